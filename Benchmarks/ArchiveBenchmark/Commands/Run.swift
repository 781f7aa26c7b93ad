internal import ArchiveEngine
internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation

extension Command {
  static let run = Command(
    name: "run",
    summary: "measure with directories and generated corpora (this may be left out)",
    usage: ["[DIR]..."],
    details: [
      "Every corpus is estimated, archived, extracted, verified, listed, and passed through a migration, in alternating "
        + "rounds with the programs of --against, whose results are compared with the corpus. Each run is a process of "
        + "its own; archives and trees go to a memory file system where there is one.",
      "Ratios are taken pair by pair, and a program counts as faster only if it was so in every round. The limit of an "
        + "operation is what its codec needs from memory on all cores, and what opening and reading (or making) the "
        + "same files needs, one after the other.",
    ],
    options: RunConfiguration.options,
    examples: [
      "archive-benchmark --synthetic text,tiny --runs 3",
      "archive-benchmark --against all --threads 1,2 --report out /usr/share",
      "archive-benchmark --operations create,extract --cold /var/tmp --json /usr/include | jq .",
    ],
    prepare: { arguments, common throws(Failure) in
      let configuration = try RunConfiguration(arguments, common)
      return { session throws(Failure) in try Run(configuration, session).run() }
    })
}

/// Goes through all corpora and writes the report.
private struct Run {
  private let configuration: RunConfiguration
  private let session: Session
  private let start = ContinuousClock.now

  init(_ configuration: RunConfiguration, _ session: Session) {
    self.configuration = configuration
    self.session = session
  }

  func run() throws(Failure) -> ExitStatus {
    // Named directories are looked at before anything is measured.
    let named = try configuration.directories.map { path throws(Failure) in try Corpus(directory: path) }
    let place = outputDirectory()
    let scratch = try Scratch(in: place)
    let tools = try Toolbox(configuration, scratch: scratch, cancellation: session.cancellation)
    var notes: [String] = []
    let peers = installedPeers(&notes)
    addNotes(about: tools, &notes)
    var report = try begin(tools, peers, scratch)
    report.notes = notes
    let machineIsBusy = report.machine.loadAtStart > 0.5
    if machineIsBusy {
      report.notes.append(
        "other programs were running when this began (load \(NumberText.digits(report.machine.loadAtStart)) for each core)"
      )
    }
    let plan = Plan(configuration, tools, peers: peers, corpusCount: named.count + configuration.kinds.count)
    session.reporter.begin("benchmark", totalByteCount: plan.runCount, unit: .steps)
    var done: UInt64 = 0
    let step = { [session] in
      done = min(done + 1, plan.runCount)
      session.reporter.update(completed: done, of: plan.runCount)
    }
    for corpus in named { report.corpora.append(try measure(corpus, tools, peers, scratch, step)) }
    for kind in configuration.kinds {
      let synthetic = SyntheticCorpus(
        kind: kind, seed: configuration.seedNumber, byteCount: configuration.syntheticByteCount)
      let corpus = try Corpus(synthetic, at: scratch.file("corpus"))
      report.corpora.append(try measure(corpus, tools, peers, scratch, step))
      try scratch.remove("corpus")
    }
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    session.reporter.finish()
    let programs = report.corpora.flatMap(\.operations).flatMap(\.programs)
    if programs.contains(where: { $0.readCallCount == nil }) {
      report.notes.append("system calls are not counted where /proc/PID/io cannot be read")
    }
    try write(report)
    let isOursWrong = report.corpora.contains { $0.checks.contains { $0.verdict == .wrong && $0.program == "starc" } }
    return isOursWrong ? .failed : session.status()
  }

  // MARK: One corpus

  private func measure(
    _ corpus: Corpus, _ tools: Toolbox, _ peers: [any Program], _ scratch: Scratch, _ step: @escaping () -> Void
  ) throws(Failure) -> CorpusResult {
    let run = try CorpusRun(
      configuration, tools, peers: peers, corpus: corpus, scratch: scratch, session: session, step: step)
    var result = try run.run()
    if let directory = configuration.coldDirectory {
      let disk = try Scratch(in: directory)
      let diskRun = try DiskRun(
        configuration, tools, peers: peers, corpus: corpus, scan: run.scan, scratch: disk, session: session, step: step)
      try diskRun.run(into: &result)
    }
    return result
  }

  // MARK: What is there

  private func outputDirectory() -> String {
    let environment = ProcessInfo.processInfo.environment
    let candidates = [configuration.outputDirectory, "/dev/shm", environment["TMPDIR"], "/tmp"].compactMap { $0 }
    return candidates.first { FileManager.default.isWritableFile(atPath: $0) } ?? candidates[0]
  }

  private func installedPeers(_ notes: inout [String]) -> [any Program] {
    var peers: [any Program] = []
    for peer in configuration.peers {
      let missing = peer.executables.filter { InstalledProgram.find($0) == nil }
      if missing.isEmpty {
        peers.append(peer)
      } else {
        let text = "\(peer.name) is skipped: \(missing.joined(separator: " and ")) not installed"
        notes.append(text)
        session.reporter.warn(ArchiveWarning(path: [], message: text))
      }
    }
    return peers
  }

  private func addNotes(about tools: Toolbox, _ notes: inout [String]) {
    if tools.meter.counterLibrary == nil {
      notes.append("allocations are not counted: libAllocationCounter.so is not beside the programs")
    }
    let migrates = configuration.chosen.contains(.export) || configuration.chosen.contains(.import)
    if migrates, tools.appmigrate == nil {
      let text = "export and import are skipped: appmigrate or DirectoryExtension is missing"
      notes.append(text)
      session.reporter.warn(ArchiveWarning(path: [], message: text))
    }
  }

  private func begin(
    _ tools: Toolbox, _ peers: [any Program], _ scratch: Scratch
  ) throws(Failure) -> BenchmarkReport {
    var versions: [ProgramVersion] = []
    for program in [tools.starc] + peers {
      for command in program.versionCommands {
        let name = URL(fileURLWithPath: command[0]).lastPathComponent
        if versions.contains(where: { $0.program == name }) { continue }
        versions.append(
          ProgramVersion(program: name, version: try InstalledProgram.version(command, tools.meter, scratch.path)))
      }
    }
    let settings = Settings(
      runCount: configuration.runCount, level: configuration.levelNumber, threadCounts: configuration.threadCounts,
      seed: configuration.seedNumber, outputFileSystem: FileSystemName.of(scratch.path),
      diskFileSystem: configuration.coldDirectory.map(FileSystemName.of),
      coldCacheMethod: configuration.coldDirectory.map { _ in configuration.coldMethod.rawValue })
    let words = ["archive-benchmark"] + ProcessInfo.processInfo.arguments.dropFirst()
    return BenchmarkReport(
      startedAt: Date().formatted(.iso8601), commandLine: Pipeline(stages: [words]).shellText,
      machine: .current(), versions: versions, settings: settings)
  }

  // MARK: Results

  private func write(_ report: BenchmarkReport) throws(Failure) {
    if let directory = configuration.reportDirectory { try ReportFiles.write(report, to: directory) }
    if let directory = configuration.saveDirectory {
      let folder = try ReportFiles.save(report, below: directory)
      if !configuration.writesJSON, !configuration.writesCSV { session.reporter.note("stored in \(folder)") }
    }
    if configuration.writesJSON {
      try session.output.write(ReportJSON.encode(report, indented: false))
    } else if configuration.writesCSV {
      try session.output.write(RawCSV.text(report))
    } else {
      try session.output.write(ReportText.text(report))
    }
  }
}
