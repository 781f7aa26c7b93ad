package import ArchiveEngine
package import ArchiveIO

/// Why a command did not succeed. Each is told once, by `main`, as one line.
package enum Failure: Error, Sendable {
  /// The arguments are wrong.
  case usage(String)
  /// Something went wrong with this file.
  case failed(String)
  /// The engine's error, and the file to name when it names none.
  case archive(ArchiveError, about: [UInt8])
  /// Something went wrong that has a name for scripts.
  case coded(String, code: String)
  /// The user asked to end.
  case cancelled
  /// The user asked to end, and there is more to say about it.
  case interrupted(String)
  /// Nobody reads standard output any more.
  case outputClosed

  /// The failure that an engine's error is.
  package init(_ error: ArchiveError, about path: [UInt8]) {
    switch error.code {
    case .cancelled: self = .cancelled
    case .brokenPipe: self = .outputClosed
    default: self = .archive(error, about: path)
    }
  }

  /// The failure that a system call's error is.
  package init(_ error: SystemError, about path: [UInt8]) {
    if error.isCancelled {
      self = .cancelled
    } else {
      let path = error.path.isEmpty ? path : error.path
      self = .failed(PathText.printable(path) + ": " + error.message)
    }
  }

  /// The line for people, without the program's name; empty when there is nothing to say.
  package var message: String {
    switch self {
    case .usage(let text), .failed(let text), .coded(let text, _), .interrupted(let text): text
    case .archive(let error, let path):
      (error.path.isEmpty && !path.isEmpty ? PathText.printable(path) + ": " : "") + error.description
    case .cancelled: "cancelled"
    case .outputClosed: ""
    }
  }

  /// The engine's kind of error, for JSON.
  package var code: String {
    switch self {
    case .usage: "usage"
    case .failed: "failed"
    case .coded(_, let code): code
    case .archive(let error, _): error.code.description
    case .cancelled, .interrupted: "cancelled"
    case .outputClosed: "outputClosed"
    }
  }
}

/// Runs a call of the engine; its errors become failures that name a file.
package func engine<R: ~Copyable>(about path: [UInt8], _ body: () throws(ArchiveError) -> R) throws(Failure) -> R {
  do { return try body() } catch { throw Failure(error, about: path) }
}

/// Runs a call of the I/O layer; its errors become failures that name a file.
package func system<R: ~Copyable>(about path: [UInt8], _ body: () throws(SystemError) -> R) throws(Failure) -> R {
  do { return try body() } catch { throw Failure(error, about: path) }
}
