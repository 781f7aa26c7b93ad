import Foundation

/// The steps of a run.
struct Script {
  /// A verb and its arguments; `%20` and the like stand for what a word cannot hold, `''` is an empty word.
  typealias Step = [String]

  let steps: [Step]

  /// Reads a file; a missing one has no steps.
  init(_ file: URL) {
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    steps = text.split(separator: "\n").map { line in
      line.split(separator: " ").map { $0 == "''" ? "" : $0.removingPercentEncoding ?? String($0) }
    }
  }

  func contains(_ verb: String) -> Bool { steps.contains { $0[0] == verb } }

  func argument(of verb: String) -> String? { steps.first { $0[0] == verb && $0.count > 1 }?[1] }
}

/// What the tests read.
enum Report {
  static func say(_ text: String) { FileHandle.standardError.write(Data("behaving: \(text)\n".utf8)) }
}

/// The words of errors.
func words(_ error: any Error) -> String { error is CancellationError ? "CancellationError" : "\(error)" }
