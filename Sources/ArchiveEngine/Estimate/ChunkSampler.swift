internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch
internal import Glibc

/// What lanes do with a candidate.
enum SampleJob: Sendable {
  /// Goes through its members: what the walk did not tell, and what repeats.
  case survey(CandidateChunk)
  /// Compresses a piece of it.
  case piece(SamplePiece)
  /// Looks whether what seems to repeat does so.
  case repetition(SampleRepetition)
  /// Makes its page.
  case page(CandidateChunk)
  /// Reads and compresses all of it, as a writer does.
  case measure(CandidateChunk)
}

/// Reads and compresses samples, on one lane.
final class ChunkSampler {
  private let stop: StopSignal
  private let warn: @Sendable (ArchiveWarning) -> Void
  /// What was found out beyond the walk, by all samplers of a run.
  private let corrections: Locked<Corrections>
  private let slot: WriteSlot
  /// Does with a group exactly what a writer does.
  private let lane: WriteLane
  private let encoder: FrameEncoder
  /// Nil where nothing is compressed.
  private let compressor: PieceCompressor?
  private let pages = PageCodec()
  private let probe: CompressibilityProbe
  private let opener = MemberOpener()
  private let isRoot = ProcessFacts.effectiveUserID == 0
  private let user = UInt64(ProcessFacts.effectiveUserID)

  init(
    options: WriterOptions, stop: StopSignal, corrections: Locked<Corrections>,
    warn: @escaping @Sendable (ArchiveWarning) -> Void
  ) throws(ArchiveError) {
    self.corrections = corrections
    self.stop = stop
    self.warn = warn
    let byteCount = ArchiveWriter.inputByteCount(options)
    slot = try WriteSlot(inputByteCount: byteCount, outputByteCount: byteCount)
    lane = try WriteLane(options: options, inputByteCount: byteCount, stop: stop, reads: ReadCounter())
    encoder = try FrameEncoder(options: options, inputByteCount: byteCount, stop: stop)
    compressor =
      options.level > 0 ? try PieceCompressor(level: options.level, chunkByteCount: options.chunkByteCount) : nil
    probe = try CompressibilityProbe()
  }

  /// Performs one job. Failures that concern more than a member stop the run.
  func run(_ job: SampleJob) {
    if stop.isSet { return }
    do throws(ArchiveError) {
      switch job {
      case .survey(let candidate):
        let chunk = try checked(candidate.chunk)
        candidate.chunk = chunk
        candidate.survey = try survey(chunk)
      case .piece(let piece): piece.result = try compress(piece)
      case .repetition(let repetition):
        let layout = ChunkLayout(repetition.candidate.chunk, leavesOutRepetitions: true)
        repetition.isEqual = unsafe layout.isRepetitionEqual(
          at: repetition.offset,
          in: UnsafeMutableRawBufferPointer(rebasing: slot.input.bytes[..<(2 * SampleRepetition.byteCount)]),
          with: opener)
      case .page(let candidate): candidate.pageByteCount = try pageByteCount(candidate)
      case .measure(let candidate):
        if !candidate.isSurveyed { candidate.chunk = try checked(candidate.chunk) }
        candidate.measure = try measure(candidate.chunk)
      }
    } catch { stop.fail(error) }
  }

  // MARK: Members that the walk could not judge

  /// The chunk with the holes of its files, and without what cannot be read. Once a chunk, or the corrections count twice.
  func checked(_ chunk: PlannedChunk) throws(ArchiveError) -> PlannedChunk {
    guard case .group(let members) = chunk, members.indices.contains(where: { isDoubtful(members[$0]) })
    else { return chunk }
    var found = Corrections()
    var kept: [PendingMember] = []
    for pending in members {
      try stop.check()
      guard isDoubtful(pending), let (tree, path) = pending.place else {
        kept.append(pending)
        continue
      }
      do throws(SystemError) {
        let opened = try opener.open(pending.member, tree, path) { _ in }
        var known = pending
        // The rest of what was found out is for the writer, which finds it out itself.
        known.member.sparseExtents = opened.member.sparseExtents
        known.plannedByteCount = TarHeaderEncoder.headerByteCount(of: known.member) + known.paddedByteCount
        found.holeByteCount +=
          pending.member.storedByteCount - min(pending.member.storedByteCount, known.member.storedByteCount)
        found.tarByteCount += Int64(known.plannedByteCount - pending.plannedByteCount)
        kept.append(known)
      } catch {
        // What vanished meanwhile is no fault of the tree.
        if error.errno != ENOENT {
          warn(ArchiveWarning(path: pending.member.path, message: "\(error.message); left out"))
        }
        found.leftOutCount += 1
        found.leftOutByteCount.add(clamping: pending.member.byteCount)
        found.tarByteCount -= Int64(pending.plannedByteCount)
      }
    }
    corrections.withLock { $0.add(found) }
    return .group(kept)
  }

  /// Whether only opening tells what is stored of a file. Of permissions the mode tells enough in nearly all cases.
  private func isDoubtful(_ pending: PendingMember) -> Bool {
    guard pending.member.kind == .file else { return false }
    if pending.mayHaveHoles { return true }
    if isRoot { return false }
    return pending.member.userID == user ? pending.member.mode & 0o400 == 0 : pending.member.mode & 0o004 == 0
  }

  // MARK: Parts of a chunk

  private func survey(_ chunk: PlannedChunk) throws(ArchiveError) -> CandidateChunk.Survey {
    guard compressor != nil, try isWorthCompressing(chunk) else { return CandidateChunk.Survey(isStored: true) }
    let layout = ChunkLayout(chunk, leavesOutRepetitions: true)
    return CandidateChunk.Survey(freshByteCount: layout.byteCount, repeatByteCount: layout.repeatByteCount)
  }

  /// Compresses a piece behind what precedes it.
  private func compress(_ piece: SamplePiece) throws(ArchiveError) -> SamplePiece.Result {
    var result = SamplePiece.Result()
    let layout = ChunkLayout(piece.candidate.chunk, leavesOutRepetitions: piece.leavesOutRepetitions)
    let end = min(piece.offset + piece.shape.byteCount, layout.byteCount)
    let begin = max(0, piece.offset - piece.shape.pastByteCount)
    result.contentByteCount = end - piece.offset
    guard let compressor, result.contentByteCount > 0 else { return result }
    let start = ContinuousClock.now
    let all = unsafe UnsafeMutableRawBufferPointer(start: slot.input.base, count: end - begin)
    unsafe layout.read(begin, into: all, with: opener)
    result.readSeconds = (ContinuousClock.now - start) / .seconds(1)
    result.readByteCount = end - begin
    result.fileCount = layout.fileCount(in: begin..<end)
    let past = unsafe UnsafeRawBufferPointer(rebasing: all[..<(piece.offset - begin)])
    let content = unsafe UnsafeRawBufferPointer(rebasing: all[(piece.offset - begin)...])
    (result.frameByteCount, result.compressionSeconds) = try unsafe compressor.compress(
      content, behind: past, into: slot.output.bytes)
    return result
  }

  /// What a writer decides by the same samples. For content that shrinks the first ones are enough.
  private func isWorthCompressing(_ chunk: PlannedChunk) throws(ArchiveError) -> Bool {
    let layout = ChunkLayout(chunk)
    guard let offsets = CompressibilityProbe.sampleOffsets(contentByteCount: layout.byteCount) else { return true }
    var savedByteCount = 0
    for offset in offsets {
      let target = unsafe UnsafeMutableRawBufferPointer(
        start: slot.input.base, count: CompressibilityProbe.sampleByteCount)
      unsafe layout.read(offset, into: target, with: opener)
      savedByteCount += try unsafe probe.saving(of: UnsafeRawBufferPointer(target))
      if savedByteCount >= CompressibilityProbe.neededByteCount { return true }
    }
    return false
  }

  /// Bytes of the page of a group. Hashes of contents do not compress, whatever they are.
  private func pageByteCount(_ candidate: CandidateChunk) throws(ArchiveError) -> Int? {
    guard case .group(let members) = candidate.chunk else { return nil }
    var records: [IndexedMember] = []
    records.reserveCapacity(members.count)
    for index in members.indices {
      var member = members[index].member
      // A lane of a writer reads it. Most are relative and not long.
      if member.kind == .symlink { member.linkTarget = member.path.suffix(20) }
      let hash = member.kind == .file ? XXH3.hash128(member.path.span) : nil
      records.append(
        IndexedMember(
          member: member,
          headerByteCount: UInt64(members[index].plannedByteCount - members[index].paddedByteCount),
          contentHash: hash))
    }
    let tarByteCount = UInt32(clamping: candidate.tarByteCount)
    let chunk = ChunkRecord(
      storedByteCount: tarByteCount, contentByteCount: tarByteCount, storedHash: UInt64.max / 3, isStored: false)
    return try pages.encode(IndexPage(chunks: [chunk], members: records)).frame.count
  }

  // MARK: All of a chunk

  private func measure(_ chunk: PlannedChunk) throws(ArchiveError) -> CandidateChunk.Measure {
    var measure = CandidateChunk.Measure()
    let start = ContinuousClock.now
    switch chunk {
    case .group(let members):
      let warn = self.warn
      var pageByteCount = 0
      lane.run(AssignedJob(sequence: 1, job: .group(members), slot: slot)) { result, _ in
        for warning in result.warnings { warn(warning) }
        if let chunk = result.chunk {
          measure.frameByteCount += Int(chunk.frame.record.storedByteCount)
          pageByteCount += chunk.page?.frame.count ?? 0
        }
        result.written?.signal()
      }
      measure.pageByteCount = pageByteCount
    case .piece(let piece):
      unsafe ChunkLayout(chunk).read(
        0, into: UnsafeMutableRawBufferPointer(start: slot.input.base, count: chunk.tarByteCount), with: opener)
      let frame = try encoder.encode(slot, byteCount: piece.headerByteCount + piece.dataByteCount, isFirst: false)
      measure.frameByteCount = Int(frame.record.storedByteCount)
    }
    measure.seconds = (ContinuousClock.now - start) / .seconds(1)
    return measure
  }
}
