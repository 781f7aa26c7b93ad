internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

/// Work for one lane of an extraction.
enum ExtractJob: Sendable {
  /// Decode a page of the index for the control thread.
  case page(PageAhead.Item)
  /// Fetch, check and decode a chunk, and make what is in it.
  case chunk(ChunkTask<LeafAction>, ReadSlot)
  /// Make what is in a piece of a stream; the buffer is free after the last job of the piece. No buffer: members without data.
  case piece([MemberPart<LeafAction>], StreamSlot?, isLast: Bool)
  /// Decode a frame of a stream.
  case decode(DecodeItem)
}

/// What all lanes of an extraction share.
final class ExtractContext: Sendable {
  let destination: Destination
  let isLenient: Bool
  let stop: StopSignal
  let chunkPool: SlotPool<ReadSlot>?
  let streamPool: SlotPool<StreamSlot>?
  let progress: ProgressCounter
  /// Measures the run, when there is one.
  let profile: RunProfile?
  /// Members that lanes left out, with the reason.
  let skipped: @Sendable (_ path: [UInt8], _ message: String) -> Void

  init(
    destination: Destination, isLenient: Bool, stop: StopSignal, chunkPool: SlotPool<ReadSlot>?,
    streamPool: SlotPool<StreamSlot>?, progress: ProgressCounter, profile: RunProfile?,
    skipped: @escaping @Sendable (_ path: [UInt8], _ message: String) -> Void
  ) {
    self.destination = destination
    self.isLenient = isLenient
    self.stop = stop
    self.chunkPool = chunkPool
    self.streamPool = streamPool
    self.progress = progress
    self.profile = profile
    self.skipped = skipped
  }
}

/// Performs extraction jobs. Belongs to one lane.
final class ExtractWorker {
  private let context: ExtractContext
  private let leaves: LeafCreator
  private let archive: IndexedArchive?
  private let pages: PageCodec?
  private let loader: ChunkLoader?
  private let check: MemberCheck
  private let decompressor: ZstdDecompressor?
  private let profile: LaneProfile?

  init(_ context: ExtractContext, archive: IndexedArchive?, profile: LaneProfile?) throws(ArchiveError) {
    self.context = context
    self.profile = profile
    self.archive = archive
    pages = archive.map { PageAhead.makeCodec($0) }
    leaves = LeafCreator(context.destination)
    check = try MemberCheck()
    if let archive { loader = try ChunkLoader(archive.file) } else { loader = nil }
    decompressor = archive == nil ? try ZstdDecompressor() : nil
  }

  /// Performs a job and gives its buffers back; failures stop the run.
  func perform(_ job: ExtractJob) {
    switch job {
    case .decode(let item):
      if let decompressor { item.perform(decompressor) }
    case .page(let item):
      if let archive, let pages { item.perform(archive, pages, stop: context.stop) }
    case .chunk(let task, let slot):
      if !context.stop.isSet {
        do throws(ArchiveError) { try perform(task, slot) } catch { context.stop.fail(error.at(offset: task.offset)) }
      }
      context.chunkPool?.release(slot)
    case .piece(let parts, let slot, let isLast):
      if !context.stop.isSet {
        do throws(ArchiveError) {
          let content = unsafe UnsafeRawBufferPointer(
            start: slot.map { unsafe UnsafeRawPointer($0.content.base) }, count: slot?.content.byteCount ?? 0)
          for part in parts { try unsafe make(part, content) }
        } catch { context.stop.fail(error) }
      }
      if isLast, let slot { context.streamPool?.release(slot) }
    }
  }

  private func perform(_ task: ChunkTask<LeafAction>, _ slot: ReadSlot) throws(ArchiveError) {
    guard let loader else { return }
    let content = try unsafe loader.load(task.record, number: task.number, at: task.offset, into: slot)
    for part in task.parts {
      try context.stop.check()
      if let spanning = part.spanning {
        try unsafe spanning.take(part, in: content, stop: context.stop, profile: profile)
      } else {
        try unsafe check.check(part, in: content, tarOffset: task.tarOffset)
      }
      if part.member.isIncomplete || part.action.isCheckOnly { continue }
      try unsafe make(part, content)
    }
  }

  private func make(_ part: MemberPart<LeafAction>, _ content: UnsafeRawBufferPointer) throws(ArchiveError) {
    let member = part.member.member
    let data = unsafe UnsafeRawBufferPointer(rebasing: content[part.dataRange])
    do throws(SystemError) {
      if let output = part.action.output {
        let isComplete = try unsafe leaves.add(
          member, output, replacesOwn: part.action.replacesOwn, content: data, storedOffset: part.dataOffset,
          endsMember: part.endsMember)
        context.progress.add(contentByteCount: UInt64(data.count), memberCount: isComplete ? 1 : 0)
      } else {
        let isMade = try unsafe leaves.create(member, part.action, content: data)
        context.progress.add(contentByteCount: member.byteCount, memberCount: 1)
        if !isMade {
          context.skipped([], "")
          context.destination.keep(part.action.path)
        }
      }
    } catch {
      if error.alreadyExists {
        context.destination.keep(part.action.path)
      } else if !part.action.replacesOwn {
        leaves.keepWhatIsThere(part.action.path)
      }
      try handle(error, member)
    }
  }

  /// Decides whether a failure is about one member or about the run.
  private func handle(_ error: SystemError, _ member: Member) throws(ArchiveError) {
    let failure = Self.failure(error, member)
    let isSpecial = member.kind == .characterDevice || member.kind == .blockDevice || member.kind == .fifo
    if isSpecial && error.isPermissionDenied {
      return context.skipped(member.path, "\(error.message); left out")
    }
    let isAboutRun =
      error.isOutOfSpace || error.isCancelled || error.isOutOfDescriptors || failure.code == .outOfMemory
      || (failure.code == .system && !error.isPermissionDenied && !error.isNotDirectory && !error.isNameRefused)
    if isAboutRun || !context.isLenient { throw failure }
    context.skipped(member.path, "\(failure.message); left out")
  }

  /// The failure in the words of the extraction, where a call's own would not say what to do.
  private static func failure(_ error: SystemError, _ member: Member) -> ArchiveError {
    if error.errno == EISDIR {
      return ArchiveError(
        .exists, "a directory has its place; directories are not replaced by files", path: member.path)
    }
    if error.errno == EEXIST {
      return ExtractPlanner.alreadyThere.at(path: member.path)
    }
    return ArchiveError(error, path: member.path)
  }
}
