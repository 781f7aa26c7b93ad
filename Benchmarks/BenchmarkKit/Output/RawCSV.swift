/// Every sample, one on a line.
package enum RawCSV {
  /// The names of the columns.
  package static let columns = [
    "corpus", "operation", "program", "threads", "place", "cache", "synced", "round", "seconds", "user_seconds",
    "system_seconds", "peak_bytes", "read_calls", "write_calls",
  ]

  /// The whole file, RFC 4180 with plain newlines.
  package static func text(_ report: BenchmarkReport) -> String {
    var text = columns.joined(separator: ",") + "\n"
    for corpus in report.corpora {
      for operation in corpus.operations {
        for program in operation.programs {
          for sample in program.samples { text += row(corpus.name, operation, program.program, sample) + "\n" }
        }
      }
    }
    return text
  }

  private static func row(
    _ corpus: String, _ result: OperationResult, _ program: String, _ sample: Sample
  ) -> String {
    let conditions = result.conditions
    let fields = [
      corpus, result.operation.rawValue, program, String(conditions.threadCount), conditions.place.rawValue,
      conditions.isCold ? "cold" : "warm", conditions.syncs ? "yes" : "no", String(sample.round),
      NumberText.fixed(sample.seconds, 6), NumberText.fixed(sample.userSeconds, 6),
      NumberText.fixed(sample.systemSeconds, 6), String(sample.peakByteCount),
      sample.readCallCount.map { String($0) } ?? "", sample.writeCallCount.map { String($0) } ?? "",
    ]
    return fields.map(quote).joined(separator: ",")
  }

  private static func quote(_ field: String) -> String {
    guard field.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return field }
    return "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
