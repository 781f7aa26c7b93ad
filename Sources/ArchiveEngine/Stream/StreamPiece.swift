internal import ArchiveFormat
internal import ArchiveIO

/// What the index says of a frame, found out while it was read.
struct StreamFrame: Sendable {
  let offset: UInt64
  let record: ChunkRecord
}

/// A stretch of the tar stream in a buffer.
struct StreamPiece: Sendable {
  let slot: StreamSlot
  let byteCount: Int
  /// Set in the last piece of a zstd frame.
  let frame: StreamFrame?
  /// Offset in the archive of what the piece came from, for messages.
  let archiveOffset: UInt64
}

/// The buffers of a frame in flight: what is stored and what it decodes to.
final class StreamSlot: Sendable {
  /// Frames with more content, and frames that do not say how much they hold, are decoded in order by the control thread: 10 MiB is the most that the default chunk size makes.
  static let maximumContentByteCount = 10 << 20
  private static let growthByteCount = 64 << 10
  let content: Buffer
  let stored: Buffer

  init(contentByteCount: Int) throws(ArchiveError) {
    content = try system { () throws(SystemError) in try Buffer(byteCount: contentByteCount) }
    stored = try system { () throws(SystemError) in try Buffer(byteCount: contentByteCount + Self.growthByteCount) }
  }

  /// How much content a slot holds, so that all of a run's slots stay within the memory that is allowed; a mebibyte at least.
  static func contentByteCount(slotCount: Int, _ limits: ReadLimits) -> Int {
    min(maximumContentByteCount, max(limits.memoryByteCount / (2 * slotCount) - growthByteCount, 1 << 20))
  }

  /// Gives the memory back until it is used again.
  func discard() {
    content.discard()
    stored.discard()
  }
}

/// A frame that a lane decodes.
final class DecodeItem: Sendable {
  let slot: StreamSlot
  let storedByteCount: Int
  let contentByteCount: Int
  let offset: UInt64
  let isStored: Bool
  private let result = Outcome<UInt64>()

  init(slot: StreamSlot, storedByteCount: Int, contentByteCount: Int, offset: UInt64, isStored: Bool) {
    self.slot = slot
    self.storedByteCount = storedByteCount
    self.contentByteCount = contentByteCount
    self.offset = offset
    self.isStored = isStored
  }

  /// Decodes and hashes; on a lane.
  func perform(_ decompressor: ZstdDecompressor) {
    let frame = unsafe UnsafeRawBufferPointer(start: slot.stored.base, count: storedByteCount)
    let target = unsafe UnsafeMutableRawBufferPointer(start: slot.content.base, count: contentByteCount)
    let outcome: Result<UInt64, ArchiveError>
    do throws(ArchiveError) {
      let produced = try unsafe decompressor.decompressFrame(frame, into: target)
      outcome =
        produced == contentByteCount
        ? .success(unsafe XXH3.hash64(frame))
        : .failure(
          ArchiveError(
            .damaged, "a frame decodes to \(produced) bytes where it states \(contentByteCount)", offset: offset))
    } catch { outcome = .failure(error.at(offset: offset)) }
    result.set(outcome)
  }

  /// Waits for the lane; the control thread.
  func wait() throws(ArchiveError) -> StreamPiece {
    let hash = try result.wait()
    let record = ChunkRecord(
      storedByteCount: UInt32(storedByteCount), contentByteCount: UInt32(contentByteCount), storedHash: hash,
      isStored: isStored)
    return StreamPiece(
      slot: slot, byteCount: contentByteCount, frame: StreamFrame(offset: offset, record: record),
      archiveOffset: offset)
  }
}
