internal import BenchmarkKit
internal import CommandLineTool

extension Command {
  static let render = Command(
    name: "render",
    summary: "make tables and the page of a report.json again",
    usage: ["REPORT.json"],
    details: ["Shows the tables of a stored report; with --report the page is written as well."],
    options: [RunConfiguration.csv, RunConfiguration.report],
    examples: ["archive-benchmark render --report out Benchmarks/Results/2026-11-30-2-cores/report.json"],
    prepare: { arguments, common throws(Failure) in
      guard arguments.operands.count == 1 else { throw .usage("one REPORT.json is needed") }
      let path = String(decoding: arguments.operands[0], as: UTF8.self)
      let directory = arguments.bytes(RunConfiguration.report).map { String(decoding: $0, as: UTF8.self) }
      let writesCSV = arguments.has(RunConfiguration.csv)
      return { session throws(Failure) in
        guard let report = try? ReportJSON.decode(try SmallFile.bytes(path)) else {
          throw .failed("\(path): no report of this program")
        }
        if let directory { try ReportFiles.write(report, to: directory) }
        if common.writesJSON {
          try session.output.write(ReportJSON.encode(report, indented: false))
        } else {
          try session.output.write(writesCSV ? RawCSV.text(report) : ReportText.text(report))
        }
        return .clean
      }
    })
}
