internal import ArchiveFormat
internal import ArchiveIO

/// Takes planned chunks, keeps a bounded number of them as candidates, and has lanes look at them while the walk goes on. The control thread only.
final class ChunkCollector {
  /// Candidates that are kept at most, and their members. When there are more every second one is dropped, and from then on
  /// only every second one is taken: memory is bounded, and what is kept is spread evenly over the archive.
  var maximumCandidateCount = 4096
  private static let maximumMemberCount = 1 << 17
  /// Chooses which ones are kept, and sampled. Any number does; always the same one makes estimates repeatable.
  private static let seed = 0x5EED_0F5A_3D1E_5EED
  private static let combStart = 0.5

  private let options: WriterOptions
  private let samplesContents: Bool
  private let stop: StopSignal
  private let warn: @Sendable (ArchiveWarning) -> Void
  private let corrections = Locked(Corrections())
  private var pool: LanePool<SampleJob>?
  /// Checks, on the control thread, the members of chunks that lanes do not look at.
  private var checker: ChunkSampler?
  private var candidates: [(index: Int, chunk: CandidateChunk)] = []
  private var candidateMemberCount = 0
  private var chunkCount = 0
  /// Every so many chunks one is a candidate.
  private var stride = 1
  private var totals = PlannedTotals()
  /// Lanes look at candidates as they come. A small tree needs no looks: all of it is compressed.
  private var isLooking = false

  init(
    options: WriterOptions, samplesContents: Bool, stop: StopSignal,
    warn: @escaping @Sendable (ArchiveWarning) -> Void
  ) {
    self.options = options
    self.samplesContents = samplesContents
    self.stop = stop
    self.warn = warn
  }

  // MARK: While the walk goes on

  /// Takes the next chunk.
  func take(_ chunk: PlannedChunk) throws(ArchiveError) {
    totals.add(chunk)
    let index = chunkCount
    chunkCount += 1
    guard samplesContents, isKept(index) else {
      // Holes and files that cannot be read count wherever they are.
      if checker == nil { checker = try makeSampler() }
      _ = try checker?.checked(chunk)
      return
    }
    candidates.append((index, CandidateChunk(chunk)))
    candidateMemberCount += chunk.memberCount
    if isLooking {
      try enqueue(.look(candidates[candidates.count - 1].chunk))
    } else if totals.tarByteCount > SampleBudget.minimumByteCount(level: options.level) {
      isLooking = true
      for candidate in candidates { try enqueue(.look(candidate.chunk)) }
    }
    while candidates.count > maximumCandidateCount || candidateMemberCount > Self.maximumMemberCount { thin() }
  }

  private func isKept(_ index: Int) -> Bool { index & (stride - 1) == Self.seed & (stride - 1) }

  /// Drops every second candidate. What lanes have found out about members of the others stays.
  private func thin() {
    stride *= 2
    candidates.removeAll { !isKept($0.index) }
    candidateMemberCount = candidates.reduce(0) { $0 + $1.chunk.memberCount }
  }

  private func makeSampler() throws(ArchiveError) -> ChunkSampler {
    try ChunkSampler(options: options, stop: stop, corrections: corrections, warn: warn)
  }

  private func enqueue(_ job: SampleJob) throws(ArchiveError) {
    if pool == nil {
      pool = try LanePool(laneCount: options.laneCount, label: "size-estimator") {
        _ throws(ArchiveError) -> (SampleJob) -> Void in
        let sampler = try makeSampler()
        return { sampler.run($0) }
      }
    }
    pool?.enqueue(job)
  }

  /// Ends the lanes.
  func abandon() {
    pool?.end()
    pool = nil
  }

  // MARK: When the walk is done

  /// Compresses a sample, and predicts.
  func finish(walkSeconds: Double) throws(ArchiveError) -> SizeEstimate {
    defer { abandon() }
    var estimate = SizeEstimate()
    if samplesContents {
      let units = try measureSample()
      var model = SizeModel(fixedByteCount: try Self.emptyArchiveByteCount(options), totals: totals)
      model.isThinned = stride > 1
      model.predict(units, into: &estimate)
      let time = TimeModel(units, totals: totals, walkSeconds: walkSeconds)
      estimate.seconds = time.seconds(archiveByteCount: estimate.archiveByteCount, laneCount: options.laneCount)
    }
    let corrections = self.corrections.withLock { $0 }
    estimate.entryCount = totals.entryCount - corrections.leftOutCount
    estimate.fileCount = totals.fileCount - corrections.leftOutCount
    estimate.contentByteCount = totals.contentByteCount &- corrections.leftOutByteCount
    estimate.storedByteCount =
      totals.storedByteCount &- corrections.leftOutByteCount &- corrections.holeByteCount
    estimate.tarByteCount =
      UInt64(max(0, Int64(clamping: totals.tarByteCount) + corrections.tarByteCount)) + UInt64(TarTrailer.byteCount)
    return estimate
  }

  /// Has lanes compress all of a small tree, or what a sample takes of a larger one.
  private func measureSample() throws(ArchiveError) -> [SampleUnit] {
    pool?.wait()
    try stop.check()
    guard isLooking else {
      for candidate in candidates { try enqueue(.measure(candidate.chunk)) }
      pool?.wait()
      try stop.check()
      return candidates.map { SampleUnit($0.chunk, chance: 1) }
    }
    var stored: [CandidateChunk] = []
    var others: [(chunk: CandidateChunk, size: Double)] = []
    for candidate in candidates {
      guard case .likely(let size)? = candidate.chunk.look else {
        stored.append(candidate.chunk)
        continue
      }
      others.append((candidate.chunk, size))
    }
    let sample = ProportionalSample(
      sizes: others.map(\.size), costs: others.map { Double($0.chunk.tarByteCount) },
      budget: SampleBudget.byteCount(totals, lookCount: candidates.count, level: options.level),
      minimumCount: 2, start: Self.combStart)
    for index in sample.chosen { try enqueue(.measure(others[index].chunk)) }
    // What stored chunks weigh is known; one tells how long they take.
    if let chunk = stored.dropFirst(stored.count / 2).first { try enqueue(.measure(chunk)) }
    pool?.wait()
    try stop.check()
    return stored.map { SampleUnit($0, chance: 1) }
      + zip(others, sample.chances).map { SampleUnit($0.chunk, size: $0.size, chance: $1) }
  }

  /// An archive of nothing, which is what all archives with these options have in common.
  private static func emptyArchiveByteCount(_ options: WriterOptions) throws(ArchiveError) -> UInt64 {
    var options = options
    options.isSerial = true
    options.verifiesWrites = false
    return try ArchiveWriter(to: NoSink(), options: options).finish().archiveByteCount
  }
}
