import BenchmarkKit
import Foundation
import FoundationXML
import Testing

/// Reports made of values that nobody measured.
@Suite struct ReportTests {
  /// Everything that a report can hold; ours is slower than "rival" where `factor` is below 1.
  static func report(factor: Double = 2, name: String = "corpus") throws -> BenchmarkReport {
    func program(_ name: String, _ seconds: [Double]) throws -> ProgramResult {
      let samples = seconds.enumerated().map { index, seconds in
        Sample(
          round: index + 1, seconds: seconds, userSeconds: seconds, systemSeconds: 0.5, peakByteCount: 5 << 20,
          readCallCount: 10, writeCallCount: 20)
      }
      return try #require(
        ProgramResult(
          program: name, command: "\(name) <in> && \"out\"", samples: samples, allocationCount: 77,
          contentByteCount: 4_000_000, fileCount: 12))
    }
    let ours: [Double] = [1, 1.1, 1.2]
    var corpus = CorpusResult(
      name: name, origin: "a <directory> & more", entryCount: 14, fileCount: 12, contentByteCount: 4_000_000)
    for operation in [Operation.create, .extract] {
      for threads in [1, 2] {
        corpus.operations.append(
          OperationResult(
            operation: operation, conditions: Conditions(threadCount: threads),
            programs: [
              try program("starc", ours.map { $0 / Double(threads) }),
              try program("rival", ours.map { $0 / Double(threads) * factor }),
            ]))
      }
    }
    corpus.estimate = EstimateResult(
      contentByteCount: 4_000_000, actualContentByteCount: 4_000_000, archiveByteCount: 1_020_000,
      archiveByteCountLow: 900_000, archiveByteCountHigh: 1_100_000, actualArchiveByteCount: 1_000_000, seconds: 1,
      actualSeconds: 0.5, ownSeconds: 0.01)
    corpus.archives = [
      ArchiveResult(program: "starc", archiveByteCount: 1_000_000, indexByteCount: 4000, contentByteCount: 4_000_000),
      ArchiveResult(program: "rival", archiveByteCount: 990_000, indexByteCount: 0, contentByteCount: 4_000_000),
    ]
    corpus.limits = [LimitResult(operation: .create, codecSeconds: 0.3, fileSeconds: 0.1, measuredSeconds: 0.5)]
    corpus.profiles = [
      ProfileResult(
        operation: .create, sections: [.init(name: "drain", cpuSeconds: 0.02)],
        lanes: [.init(cpuSeconds: 0.98, waitSeconds: 0.1)], serialFraction: 0.02)
    ]
    let byThreads = corpus.operations.filter { $0.operation == .create }.map {
      ($0.conditions.threadCount, $0.programs[0])
    }
    corpus.scaling = [try #require(ScalingResult(operation: .create, ours: byThreads))]
    corpus.syncCosts = [
      try #require(
        SyncCost(operation: .create, synced: [Sample(round: 1, seconds: 3)], unsynced: [Sample(round: 1, seconds: 2)]))
    ]
    corpus.checks = [
      CheckResult(program: "starc", operation: .extract, verdict: .identical),
      CheckResult(program: "rival", operation: .extract, verdict: .contentsIdentical, detail: "a: \u{1}time"),
    ]
    var report = BenchmarkReport(
      startedAt: "2026-01-02T03:04:05Z", commandLine: "archive-benchmark 'a & b'",
      machine: Machine(
        processor: "CPU <1>", coreCount: 2, memoryByteCount: 1 << 34, kernel: "6.1", system: "Linux", loadAtStart: 0.1),
      versions: [ProgramVersion(program: "rival", version: "1.0 \"final\"")],
      settings: Settings(runCount: 3, level: 3, threadCounts: [1, 2], seed: 1, outputFileSystem: "tmpfs"))
    report.corpora = [corpus]
    report.notes = ["something & nothing"]
    return report
  }

  @Test func scalingComparesTheSameRounds() throws {
    let points = try Self.report().corpora[0].scaling[0].points
    #expect(points.map(\.threadCount) == [1, 2])
    #expect(points[1].speedUp?.pairs.allSatisfy { abs($0 - 2) < 1e-9 } == true)
    #expect(abs(try #require(points[1].fittedSerialFraction).p50) < 1e-9)
  }

  @Test func jsonComesBackAsItWas() throws {
    let report = try Self.report()
    for isIndented in [false, true] {
      let bytes = ReportJSON.encode(report, indented: isIndented)
      let back = try ReportJSON.decode(bytes)
      #expect(ReportJSON.encode(back, indented: isIndented) == bytes)
      #expect(bytes.count { $0 == 0x0A } == 1 || isIndented)
    }
  }

  @Test func csvHasALineForEachSample() throws {
    let report = try Self.report(name: "with, comma and \"quotes\"")
    let lines = RawCSV.text(report).split(separator: "\n")
    let count = report.corpora.flatMap(\.operations).flatMap(\.programs).reduce(0) { $0 + $1.samples.count }
    #expect(lines.count == count + 1)
    #expect(lines[0].split(separator: ",").map(String.init) == RawCSV.columns)
    #expect(lines[1].hasPrefix("\"with, comma and \"\"quotes\"\"\",create,starc,1,memory,warm,no,1,1.000000,"))
  }

  @Test func pageIsWellFormedAndNeedsNothingElse() throws {
    let page = HTMLReport.text(try Self.report())
    #expect(page.hasPrefix("<!DOCTYPE html>\n"))
    let parser = XMLParser(data: Data(page.utf8))
    let names = ElementNames()
    parser.delegate = names
    #expect(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
    #expect(names.counts["svg", default: 0] > 8)
    #expect(names.references.isEmpty)
    for reference in ["http:", "https:", "url(", "@import", "<script", "src=", "href="] {
      #expect(!page.contains(reference), "\(reference)")
    }
  }

  @Test func lossesAreShownLikeWins() throws {
    let (won, lost) = (HTMLReport.text(try Self.report(factor: 2)), HTMLReport.text(try Self.report(factor: 0.5)))
    #expect(won.contains("2.00 × faster") && !won.contains("slower<"))
    #expect(lost.contains("2.00 × slower") && !lost.contains("faster<"))
    // The same picture, mirrored: as many elements of the same kinds.
    func shape(_ page: String) -> Int { page.split(separator: "<").count }
    #expect(shape(won) == shape(lost))
    #expect(ReportText.text(try Self.report(factor: 0.5)).contains("0.50 × (0.50 to 0.50) loss"))
  }

  @Test func textAndMarkdownNameEverything() throws {
    let report = try Self.report()
    for text in [ReportText.text(report), ReportMarkdown.text(report)] {
      for word in ["corpus", "rival", "2.00 ×", "serial fraction", "fsync", "something & nothing"] {
        #expect(text.localizedCaseInsensitiveContains(word), "\(word)")
      }
    }
    #expect(ReportMarkdown.text(report).contains("archive-benchmark 'a & b'"))
  }

  @Test func emptyCorporaGiveAReport() throws {
    var report = try Self.report()
    report.corpora = [CorpusResult(name: "empty", origin: "-", entryCount: 0, fileCount: 0, contentByteCount: 0)]
    #expect(XMLParser(data: Data(HTMLReport.text(report).utf8)).parse())
    #expect(ReportText.text(report).contains("empty"))
  }

  @Test(arguments: [
    (0.0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999_600, "1.00 MB"), (1.5e9, "1.50 GB"), (123_456_789, "123 MB"),
  ])
  func bytesHaveThreeDigits(count: Double, text: String) {
    #expect(NumberText.bytes(count) == text)
  }

  @Test func numbersAreRoundedAndGrouped() {
    #expect(NumberText.seconds(3.704) == "3.70 s" && NumberText.seconds(0.0861) == "86.1 ms")
    #expect(NumberText.seconds(0.000042) == "42.0 µs")
    #expect(NumberText.count(78600) == "78,600" && NumberText.count(12_500_000) == "12,500,000")
    #expect(NumberText.count(-1234) == "-1,234" && NumberText.count(999) == "999")
    #expect(NumberText.percent(-0.001, signed: true) == "0 %" && NumberText.percent(2.34, signed: true) == "+2.3 %")
    #expect(NumberText.fixed(-0.004, 2) == "0.00" && NumberText.fixed(1.005, 1) == "1.0")
  }
}

/// Counts elements, and notes attributes that refer to something.
private final class ElementNames: NSObject, XMLParserDelegate {
  var counts: [String: Int] = [:]
  var references: [String] = []

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    counts[name, default: 0] += 1
    references += attributes.keys.filter { ["src", "href", "xlink:href", "srcset", "action"].contains($0) }
  }
}
