internal import ArchiveFormat
internal import ArchiveIO

/// A frame found in a file that may be damaged.
struct FoundFrame: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    /// Compressed data with its content size, if stated.
    case data(contentByteCount: UInt64?)
    /// Of our index.
    case index(IndexFrameKind)
    /// Skippable and not ours.
    case foreign
  }

  let kind: Kind
  let offset: UInt64
  let byteCount: UInt64

  var end: UInt64 { offset + byteCount }
}

/// Finds the frames of a file, whatever lies between them: where bytes begin no frame, or one that neither ends where another begins nor decodes, the search
/// goes on byte by byte for the next that does. One thread.
///
/// What begins like a frame is followed to its end, and a file can be made so that each of its bytes does: what was followed in vain is limited.
struct SalvageScan {
  private let file: ArchiveFile
  private let stop: StopSignal
  private let window: ScanWindow
  private let reader: SalvageChunkReader
  /// Frames are kept in memory, and a file may hold one in every nine bytes.
  private let maximumFrameCount: Int
  /// Bytes that may still be followed in vain. In a damaged file these are a few frames.
  private var vainByteCountLeft: UInt64

  init(_ file: ArchiveFile, limits: ReadLimits, stop: StopSignal) throws(ArchiveError) {
    self.file = file
    self.stop = stop
    reader = try SalvageChunkReader(file, limits)
    // An array that grows takes twice its size for a moment.
    maximumFrameCount = max(100_000, limits.memoryByteCount / MemoryLayout<FoundFrame>.stride / 3)
    window = try ScanWindow(file)
    vainByteCountLeft = 4 * file.byteCount + 64 << 20
  }

  /// The frames in order, 40 bytes each, without those of others, and where the last frame of all ends.
  mutating func frames() throws(ArchiveError) -> (frames: [FoundFrame], end: UInt64) {
    var frames: [FoundFrame] = []
    var (offset, end): (UInt64, UInt64) = (0, 0)
    while offset < file.byteCount {
      try stop.check()
      if let frame = try frame(at: offset), try isBelievable(frame) {
        guard frames.count < maximumFrameCount else {
          throw ArchiveError(
            .limitExceeded, "more than \(maximumFrameCount) frames; raise --memory-limit to read them", offset: offset)
        }
        // What others left between the frames is of no use here.
        if frame.kind != .foreign { frames.append(frame) }
        offset = frame.end
        end = frame.end
      } else {
        offset = try nextMagic(after: offset)
      }
    }
    return (frames, end)
  }

  private mutating func isBelievable(_ frame: FoundFrame) throws(ArchiveError) -> Bool {
    if try isPlausible(end: frame.end) { return true }
    switch frame.kind {
    case .index: return true
    case .foreign: return false
    case .data(let contentByteCount):
      let content = try reader.content(
        of: SalvageChunk(
          offset: frame.offset, storedByteCount: frame.byteCount, contentByteCount: contentByteCount ?? .max))
      if content != nil { return true }
      try followedInVain(frame.byteCount, at: frame.offset)
      return false
    }
  }

  private mutating func followedInVain(_ byteCount: UInt64, at offset: UInt64) throws(ArchiveError) {
    guard byteCount <= vainByteCountLeft else {
      throw ArchiveError(
        .limitExceeded, "so much of the file begins like a frame and is none that it is not searched further",
        offset: offset)
    }
    vainByteCountLeft -= byteCount
  }

  /// Whether a frame may end here: at the end of the file, or where another begins.
  private func isPlausible(end: UInt64) throws(ArchiveError) -> Bool {
    if end == file.byteCount { return true }
    let bytes = try file.read(end..<min(end + UInt64(ZstdFraming.maximumHeaderByteCount), file.byteCount))
    do throws(FormatError) {
      return try ZstdFraming.parseStart(bytes.span) != nil
    } catch { return false }
  }

  /// The whole frame that begins here; nil when there is none.
  private mutating func frame(at offset: UInt64) throws(ArchiveError) -> FoundFrame? {
    let head = try file.read(offset..<min(offset + UInt64(ZstdFraming.maximumHeaderByteCount), file.byteCount))
    let start: ZstdFraming.FrameStart?
    do throws(FormatError) { start = try ZstdFraming.parseStart(head.span) } catch { return nil }
    switch start {
    case nil: return nil
    case .skippable(_, let payloadByteCount):
      let byteCount = UInt64(payloadByteCount) + 8
      guard byteCount <= file.byteCount - offset else { return nil }
      let prefix = try file.read(offset..<min(offset + UInt64(SkippableFrame.prefixByteCount), file.byteCount))
      var kind: IndexFrameKind?
      do throws(FormatError) { kind = try SkippableFrame.kind(prefix.span) } catch { kind = nil }
      return FoundFrame(kind: kind.map { .index($0) } ?? .foreign, offset: offset, byteCount: byteCount)
    case .data(let header):
      guard let end = try end(ofDataFrameAt: offset) else { return nil }
      return FoundFrame(
        kind: .data(contentByteCount: header.contentByteCount), offset: offset, byteCount: end - offset)
    }
  }

  /// Follows the blocks of a frame.
  private mutating func end(ofDataFrameAt offset: UInt64) throws(ArchiveError) -> UInt64? {
    var walker = ZstdFrameWalker()
    var position = offset
    while !walker.isComplete {
      try stop.check()
      let bytes = try unsafe window.bytes(at: position).bindMemory(to: UInt8.self)
      do throws(FormatError) {
        guard bytes.count > 0 else { throw FormatError(.truncated, "the file ends within a frame") }
        position += UInt64(try unsafe walker.consume(bytes.span, in: 0..<bytes.count).consumed)
      } catch {
        try followedInVain(max(walker.byteCount, position - offset), at: offset)
        return nil
      }
    }
    return position
  }

  /// The next place behind `offset` where the magic of a data frame or of a frame of ours stands.
  private func nextMagic(after offset: UInt64) throws(ArchiveError) -> UInt64 {
    let (data, ours): ([UInt8], [UInt8]) = ([0x28, 0xB5, 0x2F, 0xFD], [0x5D, 0x2A, 0x4D, 0x18])
    var position = offset + 1
    while position + 4 <= file.byteCount {
      try stop.check()
      let target = try unsafe window.bytes(at: position)
      let count = target.count
      for index in 0...(count - 4) {
        let first = unsafe target[index]
        guard first == data[0] || first == ours[0] else { continue }
        let magic = first == data[0] ? data : ours
        if unsafe target[index + 1] == magic[1], unsafe target[index + 2] == magic[2],
          unsafe target[index + 3] == magic[3]
        {
          return position + UInt64(index)
        }
      }
      position += UInt64(count - 3)
    }
    return file.byteCount
  }
}

/// The part of a file that is looked at: what lies in it already is not read again. One thread.
private final class ScanWindow {
  private static let byteCount = 1 << 20
  /// What is asked for is mostly a header: with less than this at hand the window moves on.
  private static let leastByteCount: UInt64 = 64

  private let file: ArchiveFile
  private let buffer: Buffer
  private var range: Range<UInt64> = 0..<0

  init(_ file: ArchiveFile) throws(ArchiveError) {
    self.file = file
    buffer = try system { () throws(SystemError) in try Buffer(byteCount: Self.byteCount) }
  }

  /// Bytes from the offset on, as many as are at hand; none at the end of the file only.
  func bytes(at offset: UInt64) throws(ArchiveError) -> UnsafeRawBufferPointer {
    if offset < range.lowerBound || offset + min(Self.leastByteCount, file.byteCount - offset) > range.upperBound {
      let count = Int(min(UInt64(Self.byteCount), file.byteCount - offset))
      range = 0..<0
      try unsafe file.read(at: offset, into: UnsafeMutableRawBufferPointer(start: buffer.base, count: count))
      range = offset..<offset + UInt64(count)
    }
    let held = unsafe UnsafeRawBufferPointer(start: buffer.base, count: Int(range.upperBound - range.lowerBound))
    return unsafe UnsafeRawBufferPointer(rebasing: held[Int(offset - range.lowerBound)...])
  }
}
