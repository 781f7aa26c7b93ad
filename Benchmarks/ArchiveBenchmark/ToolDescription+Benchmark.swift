internal import CommandLineTool

extension ToolDescription {
  /// This tool.
  static let archiveBenchmark = ToolDescription(
    name: "archive-benchmark",
    headline: "measures starc against its estimate, its limit and other programs",
    examples: [
      ("archive-benchmark", "measure with generated corpora"),
      ("archive-benchmark --against all --report out /usr/share", "compare with other programs, write a page"),
      ("archive-benchmark generate text corpus --size 64M", "make a corpus"),
    ],
    notes: [
      "Without a command the arguments are those of run.",
      "Exit status: 0 clean; 1 finished, but something was skipped or a program's output was wrong; 2 failed; "
        + "64 wrong usage; 130 or 143 ended by SIGINT or SIGTERM.",
    ],
    version: { Version.text(of: "archive-benchmark") },
    commands: [.run, .generate, .render, .internal])
}

/// The verb may be left out.
enum BenchmarkArguments {
  /// Adds the verb `run` where none is given.
  static func withVerb(_ arguments: [[UInt8]]) -> [[UInt8]] {
    let verb = Array("run".utf8)
    guard let first = arguments.first else { return [verb] }
    let known = ToolDescription.archiveBenchmark.commands.map(\.name) + ["help", "--version"]
    return known.contains { first.elementsEqual($0.utf8) } ? arguments : [verb] + arguments
  }
}
