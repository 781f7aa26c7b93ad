internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation

extension CorpusRun {
  /// Limits and profiles are measured in so many runs at most; their median counts.
  private static let repetitionCount = 3

  /// What is measured by calling the library: estimates, limits, profiles.
  func measureLibrary() throws(Failure) {
    if configuration.chosen.contains(.estimate) { try estimate() }
    let creates = configuration.chosen.contains(.create)
    let extracts = configuration.chosen.contains(.extract)
    if creates || extracts {
      note("limits and profiles")
      try limits(creates: creates, extracts: extracts)
    }
    if creates {
      try profile(.profileCreate, path: path, result: "profiled")
    }
    if extracts {
      try profile(.profileExtract, path: scratch.file("archive-" + tools.starc.name), result: "tree")
    }
  }

  /// Runs this program once more, for one measurement.
  private func call<Answer: Decodable>(
    _ kind: LibraryMeasurement.Kind, path: String, result: String? = nil, round: Int = 0
  ) throws(Failure) -> (answer: Answer, sample: Sample, command: String) {
    let operands = LibraryMeasurement.operands(
      kind, threads: conditions.threadCount, level: configuration.levelNumber, path: path,
      result: result.map(scratch.file))
    let output = scratch.file("answer")
    let pipeline = Pipeline(stages: [[tools.own, "internal"] + operands], outputPath: output)
    let reading = try tools.meter.run(pipeline, round: round)
    guard reading.isClean else { throw .failed("\(kind.rawValue) of \(self.result.name): \(reading.errorText)") }
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(try SmallFile.bytes(output))) else {
      throw .failed("\(kind.rawValue) of \(self.result.name) gave no answer")
    }
    return (answer, reading.sample, Pipeline(stages: pipeline.stages).shellText)
  }

  // MARK: Estimate

  private func estimate() throws(Failure) {
    note("estimate")
    var samples: [Sample] = []
    var last: (answer: EstimateCall, sample: Sample, command: String)?
    for round in 0...configuration.runCount {
      let found: (answer: EstimateCall, sample: Sample, command: String) = try call(.estimate, path: path, round: round)
      step()
      if round > 0 {
        var sample = found.sample
        // The call alone: a program's start is not part of it.
        sample.seconds = found.answer.ownSeconds
        samples.append(sample)
      }
      last = found
    }
    guard let last, let own = ProgramResult(program: tools.starc.name, command: last.command, samples: samples) else {
      return
    }
    result.operations.insert(
      OperationResult(operation: .estimate, conditions: conditions, programs: [own]), at: 0)
    guard let archive = result.archives.first(where: { $0.program == tools.starc.name }) else { return }
    let created = ours(.create, conditions)
    result.estimate = EstimateResult(
      contentByteCount: last.answer.contentByteCount, actualContentByteCount: scan.contentByteCount,
      archiveByteCount: last.answer.archiveByteCount, archiveByteCountLow: last.answer.archiveByteCountLow,
      archiveByteCountHigh: last.answer.archiveByteCountHigh, actualArchiveByteCount: archive.archiveByteCount,
      seconds: last.answer.seconds, actualSeconds: created?.seconds.p50, ownSeconds: own.seconds.p50)
  }

  private func ours(_ operation: Operation, _ conditions: Conditions) -> ProgramResult? {
    result.operations.first { $0.operation == operation && $0.conditions == conditions }?.programs.first
  }

  // MARK: Limits

  private func limits(creates: Bool, extracts: Bool) throws(Failure) {
    let archive = scratch.file("archive-" + tools.starc.name)
    var codec: [LibraryMeasurement.Limit] = []
    var files: [Double] = []
    var made: [Double] = []
    for _ in 0..<min(Self.repetitionCount, configuration.runCount) {
      codec.append(try call(.codec, path: archive).answer)
      if creates {
        let limit: LibraryMeasurement.Limit = try call(.readFiles, path: path).answer
        files.append(limit.seconds)
      }
      if extracts {
        try scratch.remove("tree")
        let limit: LibraryMeasurement.Limit = try call(.makeFiles, path: path, result: "tree").answer
        made.append(limit.seconds)
      }
    }
    add(.create, codec: codec.map(\.seconds), files: files)
    add(.extract, codec: codec.compactMap(\.decompressionSeconds), files: made)
  }

  private func add(_ operation: Operation, codec: [Double], files: [Double]) {
    guard let codec = Distribution(codec), let files = Distribution(files),
      let measured = ours(operation, conditions)
    else { return }
    result.limits.append(
      LimitResult(
        operation: operation, codecSeconds: codec.p50, fileSeconds: files.p50, measuredSeconds: measured.seconds.p50))
  }

  // MARK: Profiles

  private func profile(_ kind: LibraryMeasurement.Kind, path: String, result name: String) throws(Failure) {
    var profiles: [ProfileResult] = []
    for _ in 0..<min(Self.repetitionCount, configuration.runCount) {
      try scratch.remove(name)
      profiles.append(try call(kind, path: path, result: name).answer)
    }
    try scratch.remove(name)
    profiles.sort { $0.serialFraction < $1.serialFraction }
    if !profiles.isEmpty { result.profiles.append(profiles[profiles.count / 2]) }
  }
}
