internal import BenchmarkKit
internal import CommandLineTool

/// Measures create and extract on a disk: with a cold cache, and what waiting for the disk costs.
final class DiskRun {
  private let configuration: RunConfiguration
  private let tools: Toolbox
  private let peers: [any Program]
  private let scratch: Scratch
  private let session: Session
  private let scan: TreeScan
  private let step: () -> Void
  /// The corpus on the disk.
  private let path: String

  /// Copies the corpus to the disk, unless it lies there.
  init(
    _ configuration: RunConfiguration, _ tools: Toolbox, peers: [any Program], corpus: Corpus, scan: TreeScan,
    scratch: Scratch, session: Session, step: @escaping () -> Void
  ) throws(Failure) {
    self.configuration = configuration
    self.tools = tools
    self.peers = peers
    self.scratch = scratch
    self.session = session
    self.scan = scan
    self.step = step
    if try TreeScan.device(of: corpus.path) == TreeScan.device(of: scratch.path) {
      path = corpus.path
    } else {
      path = scratch.file("corpus")
      let reading = try tools.meter.run(Pipeline(stages: [["cp", "-a", "--", corpus.path, path]]), round: 0)
      if !reading.isClean { throw .failed("copying \(corpus.path) to the disk: \(reading.errorText)") }
    }
  }

  /// Adds what it finds.
  func run(into result: inout CorpusResult) throws(Failure) {
    for operation in [Operation.create, .extract] where configuration.chosen.contains(operation) {
      if !session.reporter.showsProgress {
        session.reporter.note("\(result.name): \(operation.title) on disk, cold and synced")
      }
      if operation == .extract { try makeArchives() }
      result.operations += try rounds.measure(operation, cold(operation))
      let synced = try rounds.measure(operation, syncing(operation))
      if let cost = Self.cost(operation, synced) { result.syncCosts.append(cost) }
      result.operations += synced
    }
    try scratch.remove("tree")
  }

  private var rounds: Rounds {
    Rounds(runCount: configuration.runCount, meter: tools.meter, reporter: session.reporter, corpus: scan, step: step)
  }

  private func job(_ program: any Program, isCold: Bool, syncs: Bool) -> Job {
    let threads = configuration.threadCounts.last ?? 1
    return Job(
      corpus: path, archive: scratch.file("archive-" + program.name), tree: scratch.file("tree"), member: "",
      level: configuration.levelNumber,
      conditions: Conditions(threadCount: threads, place: .disk, isCold: isCold, syncs: syncs))
  }

  /// Extracting needs archives even where creating is not measured.
  private func makeArchives() throws(Failure) {
    for program in [tools.starc] + peers {
      let job = job(program, isCold: false, syncs: false)
      guard let pipeline = program.pipeline(.create, job) else { continue }
      try scratch.remove("archive-" + program.name)
      let reading = try tools.meter.run(pipeline, round: 0)
      if !reading.isClean { throw .failed("\(program.name) failed to create: \(reading.errorText)") }
    }
  }

  private func cold(_ operation: Operation) -> [Rounds.Contestant] {
    ([tools.starc] + peers).compactMap { program in
      let job = job(program, isCold: true, syncs: false)
      return Rounds.Contestant(
        program, operation, job,
        prepare: { [self] () throws(Failure) in
          try clear(program, operation)
          let input = operation == .create ? path : job.archive
          try PageCache.drop(configuration.coldMethod, scratch.path, paths: [input], token: session.cancellation)
        })
    }
  }

  /// Ours alone: no other program waits.
  private func syncing(_ operation: Operation) -> [Rounds.Contestant] {
    [false, true].compactMap { syncs in
      Rounds.Contestant(
        tools.starc, operation, job(tools.starc, isCold: false, syncs: syncs),
        prepare: { [self] () throws(Failure) in
          try clear(tools.starc, operation)
          // What others have written shall not be waited for.
          try PageCache.settle(scratch.path)
        })
    }
  }

  private func clear(_ program: any Program, _ operation: Operation) throws(Failure) {
    if operation == .create {
      try scratch.remove("archive-" + program.name)
    } else {
      try scratch.remove("tree")
      if program.needsDirectory { try Scratch.makeDirectory(scratch.file("tree")) }
    }
  }

  private static func cost(_ operation: Operation, _ results: [OperationResult]) -> SyncCost? {
    func samples(_ syncs: Bool) -> [Sample] {
      results.first { $0.conditions.syncs == syncs }?.programs.first?.samples ?? []
    }
    return SyncCost(operation: operation, synced: samples(true), unsynced: samples(false))
  }
}
