internal import BenchmarkKit

/// What a program is to work on.
struct Job: Sendable {
  /// The directory that is archived.
  var corpus: String
  /// The program's archive.
  var archive: String
  /// Where it is extracted to.
  var tree: String
  /// One file of the corpus, relative to it.
  var member: String
  /// Compression level.
  var level: Int
  /// Where and how.
  var conditions: Conditions

  /// Threads that the program may use.
  var threads: String { String(conditions.threadCount) }
}

/// A program that is measured.
protocol Program: Sendable {
  /// What the user calls it.
  var name: String { get }
  /// The executables that it needs.
  var executables: [String] { get }
  /// Prints the version of each executable.
  var versionCommands: [[String]] { get }
  /// Whether the directory to extract to has to be there before.
  var needsDirectory: Bool { get }
  /// The command; nil for what it cannot do.
  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline?
}

extension Program {
  var needsDirectory: Bool { true }
  var versionCommands: [[String]] { executables.map { [$0, "--version"] } }
}
