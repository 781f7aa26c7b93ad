internal import ArchiveFormat
internal import ArchiveIO

/// Turns anybody's archive into stretches of tar, in order. Independent frames that state their size are decoded by lanes ahead of
/// the reader, everything else by the calling thread.
final class StreamSource {
  private enum Pending {
    case decoding(DecodeItem)
    case item(Item)
    case sequential(SequentialFrame)
  }

  /// A frame that the calling thread decodes piece by piece.
  private struct SequentialFrame {
    var offset: UInt64
    var windowByteCount: UInt64
    /// Bytes of the frame that were taken from the input before it was known to need this.
    var prefix: [UInt8]
    var prefixPosition = 0
  }

  private static let pieceByteCount = 1 << 20
  /// Windows up to this size do not count.
  private static let smallWindowByteCount = 8 << 20

  private let input: StreamInput
  private let pool: SlotPool<StreamSlot>
  private let decode: (DecodeItem) -> Void
  private let profile: RunProfile?
  private let maximumAhead: Int
  private let limits: ReadLimits
  private let stop: StopSignal
  private var decompressor: ZstdDecompressor
  /// A window is kept between frames and may take all the memory that is allowed, as may the slots: of the two only one is held.
  private var holdsLargeWindow = false
  /// Slots that hold, or held, a whole frame.
  private var filledSlots: Set<ObjectIdentifier> = []
  private let slotContentByteCount: Int
  private let frameHash: RunningHash64
  private var pending: [Pending] = []
  private var active: SequentialFrame?
  private var activeWalker = ZstdFrameWalker()
  private var activeContentByteCount: UInt64 = 0
  private var pendingIndexByteCount = 0
  private var isTar = false
  private var isEnded = false
  private var isStarted = false
  private var hasRoot = false

  /// Offset of the first byte that was not read yet.
  var offset: UInt64 { input.offset }

  /// - Parameter decode: hands a frame to a lane.
  init(
    _ input: StreamInput, pool: SlotPool<StreamSlot>, laneCount: Int, limits: ReadLimits, stop: StopSignal,
    profile: RunProfile? = nil, decode: @escaping (DecodeItem) -> Void
  ) throws(ArchiveError) {
    self.input = input
    self.pool = pool
    self.limits = limits
    self.stop = stop
    self.decode = decode
    self.profile = profile
    maximumAhead = laneCount + 1
    slotContentByteCount = StreamSlot.contentByteCount(slotCount: pool.count, limits)
    decompressor = try ZstdDecompressor(maximumWindowLog: 31)
    frameHash = try RunningHash64()
  }

  /// The next item; nil at the end of the archive.
  func next() throws(ArchiveError) -> Item? {
    if !isStarted { try start() }
    if isTar { return try nextOfTar() }
    while true {
      try stop.check()
      if active != nil {
        if let piece = try decodeSome() { return .content(piece) }
        continue
      }
      if pending.isEmpty, let failure { throw failure }
      try readAhead()
      guard !pending.isEmpty else { return nil }
      switch pending.removeFirst() {
      case .decoding(let item): return .content(try profile.controlWait { () throws(ArchiveError) in try item.wait() })
      case .item(let item):
        pendingIndexByteCount -= item.byteCount
        return item
      case .sequential(let frame):
        active = frame
        if frame.windowByteCount > UInt64(Self.smallWindowByteCount) { holdsLargeWindow = true }
        activeWalker = ZstdFrameWalker()
        activeContentByteCount = 0
        decompressor.reset()
        frameHash.reset()
      }
    }
  }

  private func start() throws(ArchiveError) {
    isStarted = true
    let count = try input.ensure(FileSignature.byteCount)
    guard count > 0 else { throw ArchiveError(.truncated, "is empty: not even an empty archive has no bytes") }
    let signature = try format { () throws(FormatError) in try withInput { FileSignature.identify($0) } }
    switch signature {
    case .zstd: break
    case .plainTar: isTar = true
    default:
      throw ArchiveError(
        .unsupported, signature.advice ?? "is neither a tar nor a zstd-compressed tar archive", offset: 0)
    }
  }

  private func withInput<R>(_ body: (Span<UInt8>) throws(FormatError) -> R) throws(FormatError) -> R {
    let bytes = unsafe input.unread.bindMemory(to: UInt8.self)
    return try unsafe body(bytes.span)
  }

  private func nextOfTar() throws(ArchiveError) -> Item? {
    try stop.check()
    let slot = try acquire()
    let offset = input.offset
    let target = unsafe UnsafeMutableRawBufferPointer(start: slot.content.base, count: Self.pieceByteCount)
    var count = 0
    do throws(ArchiveError) {
      while count < target.count {
        let got = try unsafe input.read(into: UnsafeMutableRawBufferPointer(rebasing: target[count...]))
        if got == 0 { break }
        count += got
      }
    } catch {
      pool.release(slot)
      throw error
    }
    guard count > 0 else {
      pool.release(slot)
      return nil
    }
    return .content(StreamPiece(slot: slot, byteCount: count, frame: nil, archiveOffset: offset))
  }

  /// A free buffer; waits for one.
  private func acquire() throws(ArchiveError) -> StreamSlot {
    try profile.controlWait { () throws(ArchiveError) in try pool.acquire() }
  }

  // MARK: Frames

  private func readAhead() throws(ArchiveError) {
    // Index frames are held whole: of large ones one at a time.
    while !isEnded, pending.count < maximumAhead, pendingIndexByteCount < 1 << 20 {
      if case .sequential = pending.last { return }
      // What was read before a fault still comes out before it is reported.
      do throws(ArchiveError) { guard try readFrame() else { return } } catch {
        if pending.isEmpty { throw error }
        // Not to be met again: what was read of the frame is gone.
        failure = error
        isEnded = true
      }
    }
  }

  /// Reads the next frame; false when that has to wait for a buffer.
  private func readFrame() throws(ArchiveError) -> Bool {
    let count = try input.ensure(ZstdFraming.maximumHeaderByteCount)
    if count == 0 {
      isEnded = true
      return false
    }
    let offset = input.offset
    let start: ZstdFraming.FrameStart?
    do throws(FormatError) {
      start = try withInput { span throws(FormatError) in try ZstdFraming.parseStart(span) }
    } catch {
      if error.offset == 0 { strayOffset = offset }
      throw ArchiveError(error, base: offset)
    }
    switch start {
    case nil:
      let isCutFrame = unsafe ZstdFraming.mayBegin(input.unread.bindMemory(to: UInt8.self).span)
      if !isCutFrame { strayOffset = offset }
      throw isCutFrame
        ? ArchiveError(.truncated, "the archive ends within a frame header", offset: offset)
        : ArchiveError(.damaged, "the last \(count) bytes begin no zstd frame", offset: offset)
    case .skippable(let magic, let payloadByteCount):
      try readSkippable(magic, byteCount: UInt64(payloadByteCount) + 8, at: offset)
      return true
    case .data(let header):
      if offset == 0 {
        isMarkedAsOurs = FirstFrame.isMarked(
          descriptor: unsafe input.unread[4], contentByteCount: header.contentByteCount)
      }
      if let dictionary = header.dictionaryID, dictionary != 0 {
        throw ArchiveError(
          .unsupported,
          "the frame needs the zstd dictionary \(dictionary); decompress it with \"zstd -d -D DICTIONARY\" first",
          offset: offset)
      }
      guard header.windowByteCount <= UInt64(limits.memoryByteCount) else {
        throw ArchiveError(
          .limitExceeded,
          "the frame needs a window of \(header.windowByteCount) bytes, more than the \(limits.memoryByteCount) allowed; raise --memory-limit to read it",
          offset: offset)
      }
      guard let content = header.contentByteCount, content <= UInt64(slotContentByteCount) else {
        pending.append(
          .sequential(SequentialFrame(offset: offset, windowByteCount: header.windowByteCount, prefix: [])))
        return true
      }
      return try gather(content: Int(content), window: header.windowByteCount, at: offset)
    }
  }

  /// Collects a whole frame and hands it to a lane.
  private func gather(content: Int, window: UInt64, at offset: UInt64) throws(ArchiveError) -> Bool {
    guard let slot = pending.isEmpty ? try acquire() : pool.tryAcquire() else { return false }
    filledSlots.insert(ObjectIdentifier(slot))
    var walker = ZstdFrameWalker()
    var used = 0
    do throws(ArchiveError) {
      if holdsLargeWindow {
        decompressor = try ZstdDecompressor(maximumWindowLog: 31)
        holdsLargeWindow = false
      }
      while !walker.isComplete {
        try stop.check()
        guard try input.ensure(1) > 0 else {
          throw ArchiveError(
            .truncated, "the archive ends within a frame that begins at offset \(offset)", offset: input.offset)
        }
        let range = 0..<min(input.unreadByteCount, slot.stored.byteCount - used)
        let consumed: Int
        do throws(FormatError) {
          consumed = try withInput { span throws(FormatError) in try walker.consume(span, in: range).consumed }
        } catch { throw ArchiveError(error, base: offset) }
        unsafe (slot.stored.base + used).copyMemory(from: input.unread.baseAddress!, byteCount: consumed)
        used += consumed
        input.skip(consumed)
        if used == slot.stored.byteCount, !walker.isComplete {
          // More bytes than its content needs: legal (empty blocks), so it is decoded without being held.
          let prefix = unsafe [UInt8](UnsafeRawBufferPointer(start: slot.stored.base, count: used))
          pool.release(slot)
          pending.append(.sequential(SequentialFrame(offset: offset, windowByteCount: window, prefix: prefix)))
          return true
        }
      }
    } catch {
      pool.release(slot)
      throw error
    }
    let item = DecodeItem(
      slot: slot, storedByteCount: used, contentByteCount: content, offset: offset, isStored: walker.hasOnlyRawBlocks)
    decode(item)
    pending.append(.decoding(item))
    return true
  }

  private func readSkippable(_ magic: UInt32, byteCount: UInt64, at offset: UInt64) throws(ArchiveError) {
    var kind: IndexFrameKind?
    if magic == SkippableFrame.magic, byteCount >= UInt64(SkippableFrame.prefixByteCount) {
      if try input.ensure(SkippableFrame.prefixByteCount) >= SkippableFrame.prefixByteCount {
        do throws(FormatError) {
          kind = try withInput { span throws(FormatError) in try SkippableFrame.kind(span) }
        } catch {
          // Another version of the index: the archive is read as a stream without it.
          if error.code != .unsupported { throw ArchiveError(error, base: offset) }
          unknownIndexOffset = offset
        }
      }
    }
    if let kind {
      let limit = kind.frameByteCount(pages: limits.pageMemoryByteCount)
      guard byteCount <= UInt64(limit) else {
        throw ArchiveError(
          .limitExceeded, "an index frame of \(byteCount) bytes, more than the \(limit) allowed for its kind",
          offset: offset)
      }
    }
    let isSeekTable = magic == SeekTable.magic && hasRoot
    guard kind != nil || isSeekTable, byteCount <= UInt64(IndexLimits.pageFrameByteCount) else {
      return try skipBytes(byteCount, of: offset)
    }
    var bytes: [UInt8] = []
    // Grown with what really comes: an announced size alone takes no memory.
    while UInt64(bytes.count) < byteCount {
      guard try input.ensure(1) > 0 else {
        throw ArchiveError(
          .truncated, "the archive ends within a skippable frame that begins at offset \(offset)", offset: input.offset)
      }
      let count = min(input.unreadByteCount, Int(byteCount) - bytes.count)
      unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: input.unread[..<count]))
      input.skip(count)
    }
    if kind == .root { hasRoot = true }
    pendingIndexByteCount += bytes.count
    pending.append(.item(kind.map { .index($0, bytes, offset: offset) } ?? .seekTable(bytes, offset: offset)))
  }

  /// The first frame says that the archive was written here, so it has an index unless it was cut.
  private(set) var isMarkedAsOurs = false

  /// Where bytes lie that begin no frame, right behind one: a fault, unless the archive had come to its end.
  private(set) var strayOffset: UInt64?

  /// Where an index of another version was seen.
  private(set) var unknownIndexOffset: UInt64?

  private func skipBytes(_ byteCount: UInt64, of offset: UInt64) throws(ArchiveError) {
    var rest = byteCount
    while rest > 0 {
      try stop.check()
      guard try input.ensure(1) > 0 else {
        throw ArchiveError(
          .truncated, "the archive ends within a skippable frame that begins at offset \(offset)", offset: input.offset)
      }
      let count = Int(min(UInt64(input.unreadByteCount), rest))
      input.skip(count)
      rest -= UInt64(count)
    }
  }

  // MARK: In order

  /// Decodes up to a piece of the active frame; nil when nothing came out of what was there.
  private func decodeSome() throws(ArchiveError) -> StreamPiece? {
    guard var frame = active else { return nil }
    if holdsLargeWindow, !filledSlots.isEmpty { discardFilledSlots() }
    let slot = try acquire()
    var produced = 0
    var isComplete = false
    do throws(ArchiveError) {
      while produced < Self.pieceByteCount, !isComplete {
        try stop.check()
        let target = unsafe UnsafeMutableRawBufferPointer(
          start: slot.content.base + produced, count: Self.pieceByteCount - produced)
        if frame.prefixPosition < frame.prefix.count {
          let position = frame.prefixPosition
          let prefix = frame.prefix
          let result: Result<Int, ArchiveError> = unsafe prefix.withUnsafeBytes { bytes in
            do throws(ArchiveError) {
              return .success(
                try unsafe advance(UnsafeRawBufferPointer(rebasing: bytes[position...]), target, &produced, &isComplete)
              )
            } catch { return .failure(error) }
          }
          do throws(ArchiveError) { frame.prefixPosition += try result.get() } catch {
            throw error.at(offset: frame.offset)
          }
        } else {
          guard try input.ensure(1) > 0 else {
            throw ArchiveError(
              .truncated, "the archive ends within a frame that begins at offset \(frame.offset)", offset: input.offset)
          }
          let consumed: Int
          do throws(ArchiveError) { consumed = try unsafe advance(input.unread, target, &produced, &isComplete) } catch
          {
            throw error.at(offset: frame.offset)
          }
          input.skip(consumed)
        }
      }
    } catch {
      // Complete stretches before a fault are still worth reading.
      if produced > 0, error.code != .cancelled {
        active = nil
        isEnded = true
        failure = error
        return StreamPiece(slot: slot, byteCount: produced, frame: nil, archiveOffset: frame.offset)
      }
      pool.release(slot)
      throw error
    }
    activeContentByteCount += UInt64(produced)
    var info: StreamFrame?
    if isComplete {
      active = nil
      if let stored = UInt32(exactly: activeWalker.byteCount), let content = UInt32(exactly: activeContentByteCount) {
        info = StreamFrame(
          offset: frame.offset,
          record: ChunkRecord(
            storedByteCount: stored, contentByteCount: content, storedHash: frameHash.digest(),
            isStored: activeWalker.hasOnlyRawBlocks))
      }
    } else {
      active = frame
    }
    if produced == 0 {
      pool.release(slot)
      return nil
    }
    return StreamPiece(slot: slot, byteCount: produced, frame: info, archiveOffset: frame.offset)
  }

  /// Gives the memory of those slots back that nobody uses now.
  private func discardFilledSlots() {
    var free: [StreamSlot] = []
    while let slot = pool.tryAcquire() {
      if filledSlots.remove(ObjectIdentifier(slot)) != nil { slot.discard() }
      free.append(slot)
    }
    for slot in free { pool.release(slot) }
  }

  /// A fault behind the last piece; reported when the reader comes for more.
  private(set) var failure: ArchiveError?

  private func advance(
    _ bytes: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer, _ produced: inout Int,
    _ isComplete: inout Bool
  ) throws(ArchiveError) -> Int {
    let step = try unsafe decompressor.decompressSome(bytes, into: target)
    produced += step.produced
    isComplete = step.isFrameComplete
    let taken = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<step.consumed])
    unsafe frameHash.update(taken)
    do throws(FormatError) {
      _ = try unsafe activeWalker.consume(taken.bindMemory(to: UInt8.self).span, in: 0..<step.consumed)
    } catch { throw ArchiveError(error) }
    return step.consumed
  }
}
