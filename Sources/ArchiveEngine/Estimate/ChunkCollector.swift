internal import ArchiveFormat
internal import ArchiveIO

/// Takes planned chunks, keeps a bounded number of them as candidates, and has lanes go through them while the walk goes on. The control thread only.
final class ChunkCollector {
  /// Candidates that are kept at most, and their members. When there are more every second one is dropped, and from then on
  /// only every second one is taken: memory is bounded, and what is kept is spread evenly over the archive.
  var maximumCandidateCount = 4096
  private static let maximumMemberCount = 1 << 17
  /// Chooses which ones are kept. Any number does; always the same one makes estimates repeatable.
  private static let seed = 0x5EED_0F5A_3D1E_5EED
  /// Repetitions that are looked at, and pages that are made.
  private static let repetitionCount = 24
  private static let pageCount = 6

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
  /// A small tree is compressed as a whole.
  private var isSmall: Bool { totals.tarByteCount <= SampleBudget.minimumByteCount(level: options.level) }
  /// Candidates that lanes have got.
  private var surveyedCount = 0

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
    if !isSmall { try survey() }
    while candidates.count > maximumCandidateCount || candidateMemberCount > Self.maximumMemberCount { thin() }
  }

  /// Hands out the candidates that lanes have not got yet.
  private func survey() throws(ArchiveError) {
    for candidate in candidates[surveyedCount...] { try enqueue(.survey(candidate.chunk)) }
    surveyedCount = candidates.count
  }

  private func isKept(_ index: Int) -> Bool { index & (stride - 1) == Self.seed & (stride - 1) }

  /// Drops every second candidate. What lanes have found out about members of the others stays.
  private func thin() {
    stride *= 2
    surveyedCount = candidates[..<surveyedCount].count { isKept($0.index) }
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
      let sample = try takeSample()
      var model = SizeModel(
        fixedByteCount: try Self.emptyArchiveByteCount(options), totals: totals,
        chunkByteCount: options.chunkByteCount)
      model.isThinned = stride > 1
      model.predict(sample, into: &estimate)
      let time = TimeModel(sample, totals: totals, walkSeconds: walkSeconds)
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

  /// Has lanes compress all of a small tree, or pieces of a larger one.
  private func takeSample() throws(ArchiveError) -> ChunkSample {
    let chunks = candidates.map(\.chunk)
    var sample = ChunkSample(candidates: chunks)
    guard !isSmall else {
      for chunk in chunks { try enqueue(.measure(chunk)) }
      try wait()
      return sample
    }
    try wait()
    let repetitions = EvenSample(byteCounts: chunks.map(\.survey.repeatByteCount), count: Self.repetitionCount)
    sample.repetitions = repetitions.places.map { SampleRepetition(chunks[$0.part], offset: $0.offset) }
    for repetition in sample.repetitions { try enqueue(.repetition(repetition)) }
    try wait()
    let (shape, count) = SampleBudget.pieces(totals, level: options.level)
    let leavesOut = sample.leavesOutRepetitions
    let pieces = EvenSample(byteCounts: chunks.map { sample.sampledByteCount($0) }, count: count)
    sample.pieces = pieces.places.map {
      SamplePiece(chunks[$0.part], shape, leavesOutRepetitions: leavesOut, at: $0.offset)
    }
    for piece in sample.pieces { try enqueue(.piece(piece)) }
    // What stored chunks weigh is known; one tells how long they take.
    let stored = chunks.filter(\.survey.isStored)
    if let chunk = stored.dropFirst(stored.count / 2).first { try enqueue(.measure(chunk)) }
    let groups = chunks.filter(\.isGroup)
    for place in EvenSample(byteCounts: groups.map(\.memberCount), count: Self.pageCount).places {
      try enqueue(.page(groups[place.part]))
    }
    try wait()
    return sample
  }

  private func wait() throws(ArchiveError) {
    pool?.wait()
    try stop.check()
  }

  /// An archive of nothing, which is what all archives with these options have in common.
  private static func emptyArchiveByteCount(_ options: WriterOptions) throws(ArchiveError) -> UInt64 {
    var options = options
    options.isSerial = true
    options.verifiesWrites = false
    return try ArchiveWriter(to: NoSink(), options: options).finish().archiveByteCount
  }
}
