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
  private let hash: RunningHash64
  private var stored: Buffer

  /// What is read at once where nothing is kept: it stays in a core's own cache between reading and hashing. Chosen
  /// by the size of such caches; other sizes were not measured.
  private static let pieceByteCount = 256 << 10

  init(_ file: ArchiveFile) throws(ArchiveError) {
    self.file = file
    decompressor = try ZstdDecompressor()
    hash = try RunningHash64()
    stored = try system { () throws(SystemError) in try Buffer(byteCount: 1 << 20) }
  }

  /// Reads the frame and checks its hash and shape.
  private func fetch(
    _ record: ChunkRecord, number: UInt64, at offset: UInt64
  ) throws(ArchiveError) -> UnsafeRawBufferPointer {
    let count = try storedByteCount(record, number: number, at: offset)
    if stored.byteCount < count {
      stored = try system { () throws(SystemError) in try Buffer(byteCount: count) }
    }
    let target = unsafe UnsafeMutableRawBufferPointer(start: stored.base, count: count)
    try unsafe file.read(at: offset, into: target)
    let frame = UnsafeRawBufferPointer(target)
    try compare(unsafe XXH3.hash64(frame), record, number: number, at: offset)
    var shape = FrameShape()
    unsafe shape.add(frame)
    try shape.check(record, number: number, at: offset)
    return unsafe frame
  }

  /// Checks the hash and the shape of a frame, and keeps nothing of it.
  func check(_ record: ChunkRecord, number: UInt64, at offset: UInt64) throws(ArchiveError) {
    let count = try storedByteCount(record, number: number, at: offset)
    hash.reset()
    var shape = FrameShape()
    var done = 0
    while done < count {
      let piece = unsafe UnsafeMutableRawBufferPointer(
        start: stored.base, count: min(Self.pieceByteCount, count - done))
      try unsafe file.read(at: offset + UInt64(done), into: piece)
      unsafe hash.update(UnsafeRawBufferPointer(piece))
      unsafe shape.add(UnsafeRawBufferPointer(piece))
      done += piece.count
    }
    try compare(hash.digest(), record, number: number, at: offset)
    try shape.check(record, number: number, at: offset)
  }

  private func storedByteCount(
    _ record: ChunkRecord, number: UInt64, at offset: UInt64
  ) throws(ArchiveError) -> Int {
    let count = Int(record.storedByteCount)
    guard count <= RawFrame.frameByteCount(contentByteCount: Int(record.contentByteCount)) + FirstFrame.growth else {
      throw ArchiveError(.damaged, "chunk \(number) is stored in more bytes than its content needs", offset: offset)
    }
    return count
  }

  private func compare(
    _ hash: UInt64, _ record: ChunkRecord, number: UInt64, at offset: UInt64
  ) throws(ArchiveError) {
    guard hash == record.storedHash else {
      throw ArchiveError(
        .damaged,
        "chunk \(number) has hash \(hash.paddedHexadecimal) where the index states \(record.storedHash.paddedHexadecimal)",
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

/// Whether stored bytes, which come in pieces, are one frame of data and nothing else, of raw blocks if and only if the index says so. The
/// decoder would take several frames for one, and whoever reads the stream would see more chunks than the index has.
private struct FrameShape {
  private var walker = ZstdFrameWalker()
  private var byteCount = 0
  private var isComplete = false
  private var failure: FormatError?

  /// The next piece. What is wrong is said in the end: that the bytes are not those of the index goes first.
  mutating func add(_ piece: UnsafeRawBufferPointer) {
    defer { byteCount += piece.count }
    guard failure == nil else { return }
    let bytes = unsafe piece.bindMemory(to: UInt8.self)
    do throws(FormatError) {
      guard !isComplete else { throw Self.notOneFrame(at: byteCount) }
      let walk = try unsafe walker.consume(bytes.span, in: 0..<bytes.count)
      isComplete = walk.isComplete
      if isComplete, walk.consumed < bytes.count { throw Self.notOneFrame(at: byteCount + walk.consumed) }
    } catch { failure = error }
  }

  func check(_ record: ChunkRecord, number: UInt64, at offset: UInt64) throws(ArchiveError) {
    do throws(FormatError) {
      if let failure { throw failure }
      guard isComplete, case .data = walker.header else { throw Self.notOneFrame(at: byteCount) }
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

  private static func notOneFrame(at offset: Int) -> FormatError {
    FormatError(.mismatch, "is not exactly one zstd frame", offset: UInt64(offset))
  }
}
