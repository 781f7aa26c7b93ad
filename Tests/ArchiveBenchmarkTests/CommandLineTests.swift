import ArchiveIO
import BenchmarkKit
import Foundation
import TestSupport
import Testing

/// The program itself, with corpora so small that all runs together take seconds.
@Suite(.inTemporaryDirectory(.memory)) struct CommandLineTests {
  private var place: TemporaryDirectory {
    get throws { try #require(TemporaryDirectory.current) }
  }

  private func run(_ arguments: [String], path: String? = nil) throws -> ShellResult {
    var environment: [String: String] = [:]
    if let path { environment["PATH"] = path }
    return try Shell.run([Shell.builtProduct("archive-benchmark")] + arguments, environment: environment)
  }

  private func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  /// One run of everything.
  @Test(.disabled(if: Sanitizer.isOn, "a counter is loaded before the sanitizer"))
  func measuresEverythingAndReportsIt() throws {
    let place = try place
    let (output, disk) = (place.file("output"), try TemporaryDirectory(.disk))
    for name in ["output", "corpus"] {
      try FileSystem.makeDirectory(at: place.root.rawValue, Array(name.utf8), mode: 0o755)
    }
    for number in 0..<20 {
      try FileTree.write(
        [UInt8](repeating: UInt8(number), count: 2000 * number), to: place.file("corpus/file \(number)"))
    }
    let result = try run([
      "--synthetic", "container", "--size", "200K", "--seed", "5", "--runs", "2", "--threads", "1,2", "--against",
      "tar-zstd", "--cold", disk.path, "--cold-by", "files", "--output", output, "--report", place.file("report"),
      "--save",
      place.file("results"), "--json", place.file("corpus"),
    ])
    // Where allocations or the cold cache cannot be had it is told as a note, not as a failure.
    #expect(result.status == 0, "\(result.errorText)")
    let report = try ReportJSON.decode(result.output)
    try check(report)
    #expect(try names(in: place.file("report")) == ["raw.csv", "report.html", "report.json"])
    #expect(try ReportJSON.decode(FileTree.read(place.file("report/report.json"))).corpora.count == 2)
    let folder = try #require(try names(in: place.file("results")).first)
    #expect(folder.hasPrefix(String(report.startedAt.prefix(10)) + "-"))
    #expect(try names(in: place.file("results/" + folder)) == ["README.md", "raw.csv", "report.html", "report.json"])
    #expect(try names(in: output).isEmpty && names(in: disk.path).isEmpty, "nothing is left behind")
    #expect(try names(in: place.file("corpus")).count == 20)
  }

  private func check(_ report: BenchmarkReport) throws {
    #expect(report.corpora.map(\.name) == ["corpus", "container"])
    #expect(report.corpora[0].contentByteCount == 2000 * 190 && report.corpora[0].fileCount == 20)
    for corpus in report.corpora {
      for operation in Operation.allCases {
        let results = corpus.operations.filter { $0.operation == operation }
        #expect(!results.isEmpty, "\(operation)")
        for result in results {
          for program in result.programs {
            #expect(program.samples.map(\.round) == [1, 2])
            #expect(program.seconds.minimum > 0 && program.peakByteCount > 500_000)
          }
        }
      }
      let checked = corpus.checks.filter { $0.program == "starc" }
      #expect(
        checked.map(\.operation) == [.extract, .list, .cat, .import] && checked.allSatisfy { $0.verdict == .identical })
      #expect(corpus.checks.contains(CheckResult(program: "appmigrate", operation: .import, verdict: .identical)))
      // GNU tar's own format has whole seconds.
      #expect(corpus.checks.allSatisfy { $0.verdict != .wrong }, "\(corpus.checks)")
      let create = corpus.operations.filter { $0.operation == .create }.map(\.conditions)
      #expect(create.filter { $0.place == .memory }.map(\.threadCount) == [1, 2])
      #expect(
        create.filter { $0.place == .disk }.map { [$0.isCold, $0.syncs] } == [
          [true, false], [false, false], [false, true],
        ])
      let programs = try #require(corpus.operations.first { $0.operation == .create }).programs
      #expect(programs.map(\.program) == ["starc", "tar-zstd"])
      #expect(programs[0].ratios == nil && programs[1].ratios?.pairs.count == 2)
      for program in programs {
        #expect(try #require(program.readCallCount) > 0 && #require(program.writeCallCount) > 0)
        #expect(try #require(program.allocationCount) > 100)
      }
      #expect(corpus.archives.map(\.program) == ["starc", "tar-zstd"])
      #expect(corpus.archives[0].indexByteCount > 100 && corpus.archives[1].indexByteCount == 0)
      #expect(corpus.limits.map(\.operation) == [.create, .extract])
      #expect(corpus.profiles.allSatisfy { $0.serialFraction > 0 && $0.serialFraction < 1 && !$0.lanes.isEmpty })
      #expect(corpus.scaling.map(\.points.count) == [2, 2] && corpus.syncCosts.count == 2)
      let estimate = try #require(corpus.estimate)
      #expect(estimate.contentByteCount == corpus.contentByteCount)
      #expect(estimate.actualArchiveByteCount == corpus.archives[0].archiveByteCount)
    }
  }

  @Test func aProgramThatIsNotInstalledIsSkippedByName() throws {
    let place = try place
    try FileSystem.makeDirectory(at: place.root.rawValue, Array("bin".utf8), mode: 0o755)
    for name in ["tar", "zstd", "env"] {
      let found = try Shell.script("command -v \(name)").split(separator: "\n")[0]
      try FileSystem.makeSymlink(to: Array(found.utf8), at: place.root.rawValue, Array("bin/\(name)".utf8))
    }
    let result = try run(
      [
        "--synthetic", "text", "--size", "64K", "--runs", "1", "--operations", "list", "--against", "tar-zstd,pzstd",
        "--csv", "--output", place.path,
      ], path: place.file("bin"))
    #expect(result.status == 1)
    #expect(result.errorText.contains("pzstd is skipped: pzstd not installed\n"))
    let rows = result.outputText.split(separator: "\n").map { $0.split(separator: ",")[2] }
    #expect(rows == ["program", "starc", "tar-zstd"])
  }

  /// A peer that writes something else than it was given is caught, and one that fails is left out.
  @Test(.disabled(if: Sanitizer.isOn, "programs take longer than they may"))
  func wrongAndFailingProgramsAreNamed() throws {
    let place = try place
    try FileSystem.makeDirectory(at: place.root.rawValue, Array("bin".utf8), mode: 0o755)
    let tar = try Shell.script("command -v tar").split(separator: "\n")[0]
    let wrong = """
      #!/bin/sh
      \(tar) "$@"
      status=$?
      case $1 in xf) find "$4" -name '*.md' | head -n 1 | while read -r f; do printf x >> "$f"; done ;; esac
      exit $status
      """
    try FileTree.write(Array(wrong.utf8), to: place.file("bin/tar"), mode: 0o755)
    try FileTree.write(Array("#!/bin/sh\necho no space >&2\nexit 3\n".utf8), to: place.file("bin/bsdtar"), mode: 0o755)
    let result = try run(
      [
        "--synthetic", "text", "--size", "300K", "--runs", "1", "--operations", "create,extract", "--against",
        "tar-zstd,bsdtar", "--json", "--output", place.path,
      ], path: place.file("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""))
    #expect(result.status == 1)
    #expect(result.errorText.contains("bsdtar failed to create with status 3: no space; left out\n"))
    #expect(result.errorText.contains("extract by tar-zstd is wrong"))
    let report = try ReportJSON.decode(result.output)
    #expect(report.corpora[0].checks.filter { $0.verdict == .wrong }.map(\.program) == ["tar-zstd"])
    #expect(report.corpora[0].operations.flatMap(\.programs).allSatisfy { $0.program != "bsdtar" })
  }

  @Test(arguments: [
    (["--against", "tar-zstd,7z"], "--against: \"7z\" is not one of all, tar-zstd, bsdtar, pzstd, mksquashfs"),
    (["--operations", "create,burn"], "\"burn\" is not one of"), (["--synthetic", "noise"], "\"noise\" is not one of"),
    (["--threads", "1,,2"], "--threads"), (["--threads", "0"], "--threads"), (["--runs", "0"], "--runs"),
    (["--level", "20"], "--level"), (["--csv", "--json"], "--csv and --json"), (["--bogus"], "unknown option --bogus"),
    (["generate", "text"], "KIND and DIR"), (["generate", "noise", "x"], "\"noise\""), (["render"], "REPORT.json"),
    (["internal", "codec", "1"], "a measurement"), (["internal", "codec", "1", "3", "a", "b"], "no result"),
    (["/dev/null"], "is no directory"),
  ])
  func wrongUsageIsNamed(arguments: [String], message: String) throws {
    let result = try run(arguments)
    #expect(result.status == 64)
    #expect(result.errorText.contains(message), "\(result.errorText)")
    #expect(result.output.isEmpty)
  }

  @Test func missingDirectoriesAndReportsFail() throws {
    #expect(try run([place.file("nowhere")]).status == 2)
    #expect(try run(["render", place.file("nowhere")]).status == 2)
    try FileTree.write(Array("{}".utf8), to: place.file("odd"))
    let result = try run(["render", place.file("odd")])
    #expect(result.status == 2 && result.errorText.contains("no report of this program"))
  }

  @Test func storedReportsAreRenderedAgain() throws {
    let report = try ReportTests.report()
    try FileTree.write(ReportJSON.encode(report, indented: true), to: place.file("report.json"))
    let text = try run(["render", place.file("report.json"), "--report", place.file("page")])
    #expect(text.status == 0 && text.outputText == ReportText.text(report))
    let page = try FileTree.read(place.file("page/report.html"))
    #expect(String(decoding: page, as: UTF8.self) == HTMLReport.text(report))
    let csv = try run(["render", "--csv", place.file("report.json")])
    #expect(csv.outputText == RawCSV.text(report))
  }

  @Test func helpTellsAllOptions() throws {
    for arguments in [["--help"], ["run", "--help"], ["help", "run"]] {
      let result = try run(arguments)
      #expect(result.status == 0)
      for option in ["--against", "--threads", "--runs", "--cold", "--report", "--save", "--csv", "--json"] {
        #expect(result.outputText.contains(option), "\(arguments) \(option)")
      }
    }
    #expect(try run(["--version"]).outputText.hasPrefix("archive-benchmark "))
  }
}

/// What the rest relies on: the small program that runs all others.
@Suite(.inTemporaryDirectory(.memory)) struct ProcessMeterTests {
  private func run(_ stages: [[String]]) throws -> (
    result: ShellResult, report: [[String]], output: String, errors: String
  ) {
    let place = try #require(TemporaryDirectory.current)
    let files = ["report", "output", "errors"].map { place.file($0) }
    var arguments = [Shell.builtProduct("process-meter")] + files + ["", ""]
    for stage in stages { arguments += [String(stage.count)] + stage }
    let result = try Shell.run(arguments)
    let texts = try files.map { String(decoding: try FileTree.read($0), as: UTF8.self) }
    let lines = texts[0].split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    return (result, lines, texts[1], texts[2])
  }

  @Test func stagesAreJoinedByPipesAndEachIsAccountedFor() throws {
    let run = try run([["printf", "b\\na\\n"], ["sort"], ["sh", "-c", "cat; exit 3"]])
    #expect(run.result.status == 0 && run.output == "a\nb\n")
    #expect(run.report.map { $0[0] } == ["wall", "stage", "stage", "stage"])
    #expect(run.report.dropFirst().map { $0[1] } == ["0", "0", "3"])
    for stage in run.report.dropFirst() {
      #expect(try #require(Int(stage[5])) > 0 && #require(Int(stage[6])) >= 0, "\(stage)")
    }
  }

  /// A small program looks small, whatever has started it.
  @Test(.disabled(if: Sanitizer.isOn, "judges memory")) func peaksAreThoseOfThePrograms() throws {
    let large = "import sys; x = bytearray(80 << 20); sys.exit(0)"
    let run = try run([["true"], ["python3", "-c", large]])
    #expect(try #require(Int(run.report[1][4])) < 8 << 10)
    #expect(try #require(Int(run.report[2][4])) > 80 << 10)
  }

  @Test func whatCannotBeRunOrIsKilledIsToldByStatus() throws {
    let run = try run([["/nowhere/program"], ["sh", "-c", "kill -9 $$"]])
    #expect(run.report.dropFirst().map { $0[1] } == ["127", "137"])
    #expect(run.errors.contains("/nowhere/program: No such file"))
  }
}
