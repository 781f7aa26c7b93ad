internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch
internal import Glibc

/// What lanes do with a candidate.
enum SampleJob: Sendable {
  /// Reads a few small samples.
  case look(CandidateChunk)
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
  private let compressor: ZstdCompressor?
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
      options.level > 0 ? try ZstdCompressor(level: options.level, chunkByteCount: options.chunkByteCount) : nil
    probe = try CompressibilityProbe()
  }

  /// Performs one job. Failures that concern more than a member stop the run.
  func run(_ job: SampleJob) {
    if stop.isSet { return }
    do throws(ArchiveError) {
      switch job {
      case .look(let candidate):
        let chunk = try checked(candidate.chunk)
        candidate.chunk = chunk
        candidate.look = try look(at: chunk)
      case .measure(let candidate):
        if candidate.look == nil { candidate.chunk = try checked(candidate.chunk) }
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

  // MARK: A cheap look

  /// Compresses what lies where a writer's own test for compressible content looks: the same test gives the same answer, and
  /// the samples as one piece show some of what repeats within the chunk.
  private func look(at chunk: PlannedChunk) throws(ArchiveError) -> CandidateChunk.Look {
    let total = chunk.tarByteCount
    guard let compressor, total > 0 else { return .stored }
    let piece = CompressibilityProbe.sampleByteCount
    let layout = ChunkLayout(chunk)
    var used = 0
    if let offsets = CompressibilityProbe.sampleOffsets(contentByteCount: total) {
      var savedByteCount = 0
      for offset in offsets {
        let target = unsafe UnsafeMutableRawBufferPointer(start: slot.input.base + used, count: piece)
        unsafe layout.read(offset, into: target, with: opener)
        if savedByteCount < CompressibilityProbe.neededByteCount {
          savedByteCount += try unsafe probe.saving(of: UnsafeRawBufferPointer(target))
        }
        used += piece
      }
      if savedByteCount < CompressibilityProbe.neededByteCount { return .stored }
    } else {
      used = min(total, CompressibilityProbe.sampleCount * piece)
      unsafe layout.read(0, into: UnsafeMutableRawBufferPointer(start: slot.input.base, count: used), with: opener)
    }
    // The header of a large file comes once, and says nothing of the file.
    var header = 0
    if case .piece(let piece) = chunk { header = min(piece.headerByteCount, used - 1) }
    let content = unsafe UnsafeRawBufferPointer(start: slot.input.base + header, count: used - header)
    let byteCount = try unsafe compressor.compress(content, into: slot.output.bytes, stop: stop) ?? used
    let scale = LookScale(contentByteCount: total, lookedAt: used - header, headerCount: header > 0 ? 1 : 0)
    return .likely(scale.frameByteCount(byteCount))
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
