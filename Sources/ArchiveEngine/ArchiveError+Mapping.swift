internal import ArchiveFormat
internal import ArchiveIO
internal import CZstd
internal import Glibc

extension ArchiveError {
  /// What a failed system call means.
  init(_ error: SystemError) {
    let code: Code
    switch error.errno {
    case ECANCELED: code = .cancelled
    case ENOSPC, EDQUOT, EFBIG: code = .noSpace
    case EPIPE: code = .brokenPipe
    case EEXIST: code = .exists
    case ENOENT: code = .notFound
    case ENOMEM: code = .outOfMemory
    default: code = .system
    }
    let message = code == .cancelled ? "cancelled" : error.message
    self.init(code, message, path: error.path, systemErrorNumber: error.errno)
  }

  /// The same, about a path that says more than what the call was given, which often is a name in a directory.
  init(_ error: SystemError, path: [UInt8]) {
    self.init(error)
    if !path.isEmpty { self.path = path }
  }

  /// What a fault in the bytes means.
  init(_ error: FormatError, base: UInt64 = 0) {
    let code: Code
    switch error.code {
    case .malformed: code = .damaged
    case .limitExceeded: code = .limitExceeded
    case .truncated: code = .truncated
    case .unsupported: code = .unsupported
    case .mismatch: code = .mismatch
    }
    self.init(code, error.message, offset: error.offset.map { $0 &+ base })
  }

  /// What libzstd's result means.
  init(zstd result: Int, doing action: String) {
    let text = unsafe String(cString: ZSTD_getErrorName(result))
    switch ZSTD_getErrorCode(result) {
    case ZSTD_error_memory_allocation: self.init(.outOfMemory, "\(action): no memory for the codec")
    case ZSTD_error_frameParameter_windowTooLarge:
      self.init(
        .limitExceeded, "\(action): the frame's window is larger than the limit; raise --memory-limit to read it")
    case ZSTD_error_dictionary_wrong:
      self.init(.unsupported, "\(action): the frame needs a dictionary")
    default: self.init(.damaged, "\(action): \(text)")
    }
  }
}

/// Runs a call of the I/O layer and turns its error into the engine's.
@inline(__always)
func system<R: ~Copyable>(
  path: @autoclosure () -> [UInt8] = [], _ body: () throws(SystemError) -> R
) throws(ArchiveError) -> R {
  do { return try body() } catch { throw ArchiveError(error, path: path()) }
}

/// Runs a call of the format layer and turns its error into the engine's.
@inline(__always)
func format<R: ~Copyable>(
  path: @autoclosure () -> [UInt8] = [], _ body: () throws(FormatError) -> R
) throws(ArchiveError) -> R {
  do { return try body() } catch { throw ArchiveError(error).at(path: path()) }
}
