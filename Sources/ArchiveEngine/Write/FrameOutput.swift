internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch
internal import Synchronization

/// Writes frames and index pages in archive order and keeps the account of them.
///
/// Confined to the drain's thread while the drain runs, then to the control thread.
final class FrameOutput: @unchecked Sendable {
  /// Chunks after which a page ends though a member is still open.
  private static let pageChunkCount = 64

  private let output: ArchiveOutput
  private let stop: StopSignal
  private let report: @Sendable (WriterEvent) -> Void
  private let pages = PageCodec()
  private let profile: RunProfile?
  private let account: SlotAccount
  /// Has a lane write a frame where it belongs; nil when everything happens on one thread.
  private let place: (@Sendable (PlacedFrame) -> Void)?
  private var accumulator: IndexAccumulator?
  private var hasPreamble = false
  private var preambleByteCount: UInt64 = 0

  /// The page in the making, for chunks that lanes did not give a page of their own.
  private var chunks: [ChunkRecord] = []
  private var members: [IndexedMember] = []
  private var openByteCount: UInt64 = 0

  private(set) var progress = ArchiveProgress()
  private(set) var storedChunkCount: UInt64 = 0
  private let warnings = Atomic<UInt64>(0)

  init(
    output: ArchiveOutput, accumulator: IndexAccumulator, stop: StopSignal, account: SlotAccount,
    report: @escaping @Sendable (WriterEvent) -> Void, profile: RunProfile? = nil,
    place: (@Sendable (PlacedFrame) -> Void)?
  ) {
    self.account = account
    self.place = place
    self.output = output
    self.profile = profile
    self.accumulator = accumulator
    self.stop = stop
    self.report = report
  }

  /// Takes the next result. Failures stop the run.
  func consume(_ result: WriteResult) { profile.measure(.drain) { take(result) } }

  private func take(_ result: WriteResult) {
    for warning in result.warnings { self.warn(warning) }
    var slot = result.releasedSlot
    if !stop.isSet, let chunk = result.chunk {
      do throws(ArchiveError) {
        if slot != nil, hand(chunk) { slot = nil } else { try write(chunk.frame, of: chunk.slot) }
        try account(for: chunk)
      } catch { stop.fail(error) }
    }
    if result.contentByteCount > 0 || result.memberCount > 0 {
      progress.contentByteCount.add(clamping: result.contentByteCount)
      progress.memberCount += result.memberCount
      progress.archiveByteCount = output.byteCount
      report(.progress(progress))
    }
    if let slot { account.release(slot) }
    result.written?.signal()
  }

  private func warn(_ warning: ArchiveWarning) {
    noteExternalWarning(warning.isDegradation)
    report(.warning(warning))
  }

  /// Counts a warning that another thread reported. Any thread.
  func noteExternalWarning(_ isDegradation: Bool) {
    if isDegradation { warnings.wrappingAdd(1, ordering: .relaxed) }
  }

  private func write(_ frame: EncodedFrame, of slot: WriteSlot) throws(ArchiveError) {
    try unsafe frame.withPieces(of: slot) { pieces throws(ArchiveError) in try unsafe output.write(pieces) }
  }

  /// Leaves the frame of a job that is done to a lane, with its slot, if the output has places.
  private func hand(_ chunk: WriteResult.Chunk) -> Bool {
    guard let place, let (file, offset) = output.reserve(UInt64(chunk.frame.record.storedByteCount)) else {
      return false
    }
    place(PlacedFrame(frame: chunk.frame, slot: chunk.slot, file: file, offset: offset, account: account))
    return true
  }

  private func account(for chunk: WriteResult.Chunk) throws(ArchiveError) {
    if chunk.frame.record.isStored { storedChunkCount += 1 }
    if !hasPreamble, let accumulator {
      hasPreamble = true
      try output.write(accumulator.preambleFrame)
    }
    if chunks.isEmpty, openByteCount == 0, let page = chunk.page {
      return try add(page)
    }
    chunks.append(chunk.frame.record)
    members += chunk.members
    if !chunk.isMemberOpen || chunks.count >= Self.pageChunkCount { try closePage() }
  }

  private func closePage() throws(ArchiveError) {
    let page = IndexPage(openByteCount: openByteCount, chunks: chunks, members: members)
    openByteCount = page.tailByteCount
    chunks = []
    members = []
    let (frame, summary) = try profile.measure(.pages, within: .drain) { () throws(ArchiveError) in
      try pages.encode(page)
    }
    try add(EncodedPage(frame: frame, summary: summary))
  }

  private func add(_ page: EncodedPage) throws(ArchiveError) {
    try output.write(page.frame)
    do throws(FormatError) { try accumulator?.add(page.summary) } catch { throw ArchiveError(error) }
  }

  /// Moves the position of a file behind all that was to be written, as if it had been written in order, though the run has failed.
  func leave() { try? output.finish() }

  /// Writes the end frame and all that follows the last page. After the drain has ended.
  func finish(closing: Manifest, encoder: FrameEncoder, slot: WriteSlot) throws(ArchiveError) -> WriteSummary {
    unsafe slot.input.base.initializeMemory(as: UInt8.self, repeating: 0, count: TarTrailer.byteCount)
    let end = try encoder.encode(slot, byteCount: TarTrailer.byteCount, isFirst: !hasPreamble)
    try write(end, of: slot)
    guard let accumulator = self.accumulator.take() else {
      throw ArchiveError(.invalidArgument, "the archive is finished already")
    }
    if !hasPreamble { try output.write(accumulator.preambleFrame) }
    let (frame, pageSummary) = try pages.encode(.end(chunk: end.record))
    try output.write(frame)
    var index = accumulator
    do throws(FormatError) { try index.add(pageSummary) } catch { throw ArchiveError(error) }
    let root = try index.finish(closing: closing, wrap: { ArchiveError($0) }) { frame throws(ArchiveError) in
      try output.write(frame)
    }
    try output.finish()
    var summary = WriteSummary()
    summary.entryCount = root.totals.memberCount
    summary.fileCount = root.totals.fileCount
    summary.contentByteCount = root.totals.contentByteCount
    summary.tarByteCount = root.totals.tarByteCount
    summary.chunkCount = root.totals.chunkCount
    summary.storedChunkCount = storedChunkCount + (end.record.isStored ? 1 : 0)
    summary.archiveByteCount = output.byteCount
    summary.indexByteCount = output.byteCount - root.totals.dataStoredByteCount
    let encodedRoot = try format { () throws(FormatError) in try root.encodedFrame() }
    summary.digest = try format { () throws(FormatError) in
      try ArchiveRoot.digest(ofFrame: encodedRoot.span).hexadecimal
    }
    summary.warningCount = warnings.load(ordering: .relaxed)
    return summary
  }
}
