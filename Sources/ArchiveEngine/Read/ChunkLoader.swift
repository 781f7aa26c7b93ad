internal import ArchiveFormat
internal import ArchiveIO

/// The buffer for the content of one chunk in flight.
final class ReadSlot: Sendable {
  let content: Buffer

  init(byteCount: Int) throws(ArchiveError) {
    content = try system { () throws(SystemError) in try Buffer(byteCount: byteCount) }
  }
}

/// Fetches, checks and decodes chunks. Belongs to one lane.
final class ChunkLoader {
  private let file: ArchiveFile
  private let decompressor: ZstdDecompressor
  private var stored: Buffer

  init(_ file: ArchiveFile) throws(ArchiveError) {
    self.file = file
    decompressor = try ZstdDecompressor()
    stored = try system { () throws(SystemError) in try Buffer(byteCount: 1 << 20) }
  }

  /// Reads the frame and compares its hash.
  func fetch(_ record: ChunkRecord, number: UInt64, at offset: UInt64) throws(ArchiveError) -> UnsafeRawBufferPointer {
    let count = Int(record.storedByteCount)
    guard count <= RawFrame.frameByteCount(contentByteCount: Int(record.contentByteCount)) + FirstFrame.growth else {
      throw ArchiveError(.damaged, "chunk \(number) is stored in more bytes than its content needs", offset: offset)
    }
    if stored.byteCount < count {
      stored = try system { () throws(SystemError) in try Buffer(byteCount: count) }
    }
    let target = unsafe UnsafeMutableRawBufferPointer(start: stored.base, count: count)
    try unsafe file.read(at: offset, into: target)
    let frame = UnsafeRawBufferPointer(target)
    let hash = unsafe XXH3.hash64(frame)
    guard hash == record.storedHash else {
      throw ArchiveError(
        .damaged,
        "chunk \(number) has hash \(hash.paddedHexadecimal) where the index states \(record.storedHash.paddedHexadecimal)",
        offset: offset)
    }
    try unsafe checkShape(of: frame, record, number: number, at: offset)
    return unsafe frame
  }

  /// The stored bytes are one frame of data and nothing else, of raw blocks if and only if the index says so. The decoder would take several
  /// frames for one, and whoever reads the stream would see more chunks than the index has.
  private func checkShape(
    of frame: UnsafeRawBufferPointer, _ record: ChunkRecord, number: UInt64, at offset: UInt64
  ) throws(ArchiveError) {
    var walker = ZstdFrameWalker()
    let bytes = unsafe frame.bindMemory(to: UInt8.self)
    do throws(FormatError) {
      let walk = try unsafe walker.consume(bytes.span, in: 0..<bytes.count)
      guard walk.isComplete, walk.consumed == bytes.count, case .data = walker.header else {
        throw FormatError(.mismatch, "is not exactly one zstd frame", offset: UInt64(walk.consumed))
      }
    } catch {
      throw ArchiveError(.mismatch, "chunk \(number) \(error.message)", offset: offset + (error.offset ?? 0))
    }
    guard walker.hasOnlyRawBlocks == record.isStored else {
      throw ArchiveError(
        .mismatch,
        "chunk \(number) is \(walker.hasOnlyRawBlocks ? "stored" : "compressed") where the index states the contrary",
        offset: offset)
    }
  }

  /// Reads, checks and decodes a chunk into the slot.
  func load(_ record: ChunkRecord, number: UInt64, at offset: UInt64, into slot: ReadSlot) throws(ArchiveError)
    -> UnsafeRawBufferPointer
  {
    let frame = try unsafe fetch(record, number: number, at: offset)
    let size = Int(record.contentByteCount)
    guard size <= slot.content.byteCount else {
      throw ArchiveError(.limitExceeded, "chunk \(number) holds \(size) bytes", offset: offset)
    }
    let target = unsafe UnsafeMutableRawBufferPointer(start: slot.content.base, count: size)
    let produced: Int
    do throws(ArchiveError) { produced = try unsafe decompressor.decompressFrame(frame, into: target) } catch {
      throw ArchiveError(error.code, "chunk \(number): \(error.message)", offset: offset)
    }
    guard produced == size else {
      throw ArchiveError(
        .mismatch, "chunk \(number) decodes to \(produced) bytes where the index states \(size)", offset: offset)
    }
    return UnsafeRawBufferPointer(target)
  }
}
