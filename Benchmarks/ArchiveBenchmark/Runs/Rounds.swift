internal import ArchiveEngine
internal import BenchmarkKit
internal import CommandLineTool

/// Runs an operation by several programs in alternating rounds: what disturbs one round disturbs all programs of it.
struct Rounds {
  /// One program, under its conditions.
  struct Contestant {
    let program: any Program
    let job: Job
    /// The command.
    let pipeline: Pipeline
    /// Done before each run, not measured: takes the last result away.
    let prepare: () throws(Failure) -> Void
    /// Done after the warm-up, not measured: looks at what came out.
    let check: () throws(Failure) -> Void

    /// Nil when the program cannot do the operation.
    init?(
      _ program: any Program, _ operation: Operation, _ job: Job, prepare: @escaping () throws(Failure) -> Void = {},
      check: @escaping (Pipeline) throws(Failure) -> Void = { _ in }
    ) {
      guard let pipeline = program.pipeline(operation, job) else { return nil }
      self.program = program
      self.job = job
      self.pipeline = pipeline
      self.prepare = prepare
      self.check = { () throws(Failure) in try check(pipeline) }
    }
  }

  private struct Entry {
    let contestant: Contestant
    var samples: [Sample] = []
    var allocationCount: UInt64?
    var hasFailed = false
  }

  let runCount: Int
  let meter: ProcessMeter
  let reporter: Reporter
  let corpus: TreeScan
  /// Called after each run.
  let step: () -> Void

  /// Measures, and gives a result for each of the contestants' conditions.
  ///
  /// Of those with the same conditions the first is ours: when it fails, so does the run. Others that fail are named and left out.
  func measure(_ operation: Operation, _ contestants: [Contestant]) throws(Failure) -> [OperationResult] {
    var entries = contestants.map { Entry(contestant: $0) }
    // Round 0 is the warm-up. Every round begins with another program.
    for round in 0...runCount {
      for turn in entries.indices {
        let index = (turn + round) % entries.count
        if entries[index].hasFailed { continue }
        let contestant = entries[index].contestant
        try contestant.prepare()
        let reading = try meter.run(contestant.pipeline, round: round)
        step()
        if !reading.isClean {
          try refuse(reading, contestant, operation, isOurs: isFirst(index, of: contestants))
          entries[index].hasFailed = true
        } else if round == 0 {
          try contestant.check()
        } else {
          entries[index].samples.append(reading.sample)
        }
      }
    }
    try countAllocations(&entries)
    return results(operation, entries)
  }

  /// Counting slows programs down, so it has runs of its own. They come last, and leave the same as the others.
  private func countAllocations(_ entries: inout [Entry]) throws(Failure) {
    guard meter.counterLibrary != nil else { return }
    for index in entries.indices where !entries[index].hasFailed {
      try entries[index].contestant.prepare()
      let reading = try meter.run(entries[index].contestant.pipeline, round: 0, countingAllocations: true)
      if reading.isClean { entries[index].allocationCount = reading.allocationCount }
    }
  }

  private func isFirst(_ index: Int, of contestants: [Contestant]) -> Bool {
    let conditions = contestants[index].job.conditions
    return contestants.firstIndex { $0.job.conditions == conditions } == index
  }

  private func refuse(
    _ reading: MeterReading, _ contestant: Contestant, _ operation: Operation, isOurs: Bool
  ) throws(Failure) {
    let statuses = reading.statuses.map { String($0) }.joined(separator: " | ")
    let text =
      "\(contestant.program.name) failed to \(operation.title) with status \(statuses): \(reading.errorText)"
    if isOurs { throw .failed(text) }
    reporter.warn(ArchiveWarning(path: [], message: text + "; left out"))
  }

  private func results(_ operation: Operation, _ entries: [Entry]) -> [OperationResult] {
    var groups: [(conditions: Conditions, programs: [ProgramResult])] = []
    for entry in entries {
      let conditions = entry.contestant.job.conditions
      guard !entry.hasFailed, let result = result(operation, entry) else { continue }
      if let index = groups.firstIndex(where: { $0.conditions == conditions }) {
        groups[index].programs.append(result)
      } else {
        groups.append((conditions, [result]))
      }
    }
    return groups.map { OperationResult(operation: operation, conditions: $0.conditions, programs: $0.programs) }
  }

  private func result(_ operation: Operation, _ entry: Entry) -> ProgramResult? {
    let moves = operation.movesContent
    return ProgramResult(
      program: entry.contestant.program.name, command: entry.contestant.pipeline.shellText, samples: entry.samples,
      allocationCount: entry.allocationCount, contentByteCount: moves ? corpus.contentByteCount : nil,
      fileCount: moves ? corpus.fileCount : nil)
  }
}
