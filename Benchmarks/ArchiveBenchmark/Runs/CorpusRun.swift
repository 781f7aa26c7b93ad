internal import ArchiveEngine
internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool

/// Measures everything with one corpus.
final class CorpusRun {
  let configuration: RunConfiguration
  let tools: Toolbox
  /// The programs of others that are there.
  let peers: [any Program]
  let scratch: Scratch
  let session: Session
  let scan: TreeScan
  /// The corpus.
  let path: String
  /// What was found so far.
  var result: CorpusResult
  let step: () -> Void

  init(
    _ configuration: RunConfiguration, _ tools: Toolbox, peers: [any Program], corpus: Corpus, scratch: Scratch,
    session: Session, step: @escaping () -> Void
  ) throws(Failure) {
    self.configuration = configuration
    self.tools = tools
    self.peers = peers
    self.scratch = scratch
    self.session = session
    self.step = step
    path = corpus.path
    scan = try TreeScan(corpus.path, token: session.cancellation)
    result = CorpusResult(
      name: corpus.name, origin: corpus.origin, entryCount: scan.entryCount, fileCount: scan.fileCount,
      contentByteCount: scan.contentByteCount)
  }

  /// Runs all that was asked for.
  func run() throws(Failure) -> CorpusResult {
    try requireSpace()
    // Whatever comes later works on the archives that create leaves.
    try create()
    try measureArchives()
    if configuration.chosen.contains(.extract) { try extract() }
    for operation in configuration.chosen where [.verify, .quickVerify, .list, .cat].contains(operation) {
      try read(operation)
    }
    try migrate()
    try measureLibrary()
    result.scaling = [.create, .extract].compactMap { operation in
      ScalingResult(operation: operation, ours: ours(operation))
    }
    return result
  }

  // MARK: Places

  var rounds: Rounds {
    Rounds(
      runCount: configuration.runCount, meter: tools.meter, reporter: session.reporter, corpus: scan, step: step)
  }

  /// The conditions of what is measured once.
  var conditions: Conditions {
    Conditions(threadCount: configuration.threadCounts.last ?? ProcessFacts.availableCores)
  }

  func job(_ program: any Program, _ conditions: Conditions) -> Job {
    Job(
      corpus: path, archive: scratch.file("archive-" + program.name), tree: scratch.file("tree"),
      member: scan.middleFile ?? "", level: configuration.levelNumber, conditions: conditions)
  }

  var programs: [any Program] { [tools.starc] + peers }

  func note(_ text: String) {
    if !session.reporter.showsProgress { session.reporter.note("\(result.name): \(text)") }
  }

  /// An archive of the same size for each program, one more, and a tree have to fit.
  private func requireSpace() throws(Failure) {
    let directory = Array(scratch.path.utf8)
    let free = try system(about: directory) { () throws(SystemError) in
      let top = try FileSystem.open(at: FileSystem.currentDirectory, directory, [.readOnly, .directory])
      return try ProcessFacts.freeSpace(of: top.rawValue).bytes
    }
    let needed = scan.storedByteCount * UInt64(2 + programs.count)
    if needed > free {
      throw .failed(
        "\(scratch.path): \(NumberText.bytes(Double(needed))) may be needed for archives and copies of \(path), "
          + "\(NumberText.bytes(Double(free))) are free; name another place with --output")
    }
  }

  // MARK: Create and extract

  private func create() throws(Failure) {
    let isMeasured = configuration.chosen.contains(.create)
    note("create")
    var contestants: [Rounds.Contestant] = []
    let checksHere = isMeasured && !configuration.chosen.contains(.extract)
    for threadCount in isMeasured ? configuration.threadCounts : [conditions.threadCount] {
      for program in programs {
        let job = job(program, Conditions(threadCount: threadCount))
        let contestant = Rounds.Contestant(
          program, .create, job,
          prepare: { [scratch] () throws(Failure) in try scratch.remove("archive-" + program.name) },
          check: { [self] _ throws(Failure) in if checksHere { try extractAndCheck(program, job) } })
        if let contestant { contestants.append(contestant) }
      }
    }
    if isMeasured {
      result.operations += try rounds.measure(.create, contestants)
    } else {
      for contestant in contestants {
        let reading = try tools.meter.run(contestant.pipeline, round: 0)
        if !reading.isClean { throw .failed("\(contestant.program.name) failed to create: \(reading.errorText)") }
      }
    }
  }

  /// Extracts once, unmeasured, only to see whether the archive is right.
  private func extractAndCheck(_ program: any Program, _ job: Job) throws(Failure) {
    guard let pipeline = program.pipeline(.extract, job) else { return }
    try clearTree(program)
    let reading = try tools.meter.run(pipeline, round: 0)
    try check(program, .create, job.tree, reading)
    try scratch.remove("tree")
  }

  private func extract() throws(Failure) {
    note("extract")
    var contestants: [Rounds.Contestant] = []
    for threadCount in configuration.threadCounts {
      for program in programs where has(program) {
        let job = job(program, Conditions(threadCount: threadCount))
        let contestant = Rounds.Contestant(
          program, .extract, job, prepare: { [self] () throws(Failure) in try clearTree(program) },
          check: { [self] _ throws(Failure) in try check(program, .extract, job.tree, nil) })
        if let contestant { contestants.append(contestant) }
      }
    }
    result.operations += try rounds.measure(.extract, contestants)
    try scratch.remove("tree")
  }

  func clearTree(_ program: any Program) throws(Failure) {
    try scratch.remove("tree")
    if program.needsDirectory { try Scratch.makeDirectory(scratch.file("tree")) }
  }

  /// Whether the program has an archive: one that failed to create has none.
  func has(_ program: any Program) -> Bool {
    (try? FileSystem.status(at: FileSystem.currentDirectory, Array(scratch.file("archive-" + program.name).utf8)))
      != nil
  }

  private func check(
    _ program: any Program, _ operation: Operation, _ tree: String, _ reading: MeterReading?
  ) throws(Failure) {
    // With several numbers of threads the first answer is enough, unless a later one is worse.
    var found: CheckResult
    if let reading, !reading.isClean {
      found = CheckResult(program: program.name, operation: operation, verdict: .wrong, detail: reading.errorText)
    } else {
      found = try TreeComparison.check(
        tree, against: path, program: program.name, operation: operation, token: session.cancellation)
    }
    record(&found)
  }

  func record(_ check: inout CheckResult) {
    if check.verdict == .wrong {
      session.reporter.warn(
        ArchiveWarning(
          path: [], message: "\(result.name): \(check.operation.title) by \(check.program) is wrong: \(check.detail)"))
    }
    let index = result.checks.firstIndex { [check] in $0.program == check.program && $0.operation == check.operation }
    if let index {
      if check.verdict == .wrong { result.checks[index] = check }
    } else {
      result.checks.append(check)
    }
  }

  private func measureArchives() throws(Failure) {
    for program in programs where has(program) {
      let archive = scratch.file("archive-" + program.name)
      let size = try ArchiveSizes(archive, isIndexed: program.name == tools.starc.name)
      result.archives.append(
        ArchiveResult(
          program: program.name, archiveByteCount: size.archiveByteCount, indexByteCount: size.indexByteCount,
          contentByteCount: scan.contentByteCount))
    }
  }

  private func ours(_ operation: Operation) -> [(threadCount: Int, result: ProgramResult)] {
    result.operations.compactMap { result in
      guard result.operation == operation, result.conditions.place == .memory, let own = result.programs.first else {
        return nil
      }
      return (result.conditions.threadCount, own)
    }
  }
}
