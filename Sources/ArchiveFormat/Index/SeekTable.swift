/// The seek table of zstd's seekable format 0.1.0, without checksums: the last frame of an archive.
public enum SeekTable {
  /// Sizes of one frame, skippable ones included (with decompressed size 0).
  public struct Entry: Sendable, Equatable {
    /// Bytes of the whole frame in the archive.
    public var compressedByteCount: UInt32
    /// Bytes of its content.
    public var decompressedByteCount: UInt32

    /// An entry of a frame.
    public init(compressedByteCount: UInt32, decompressedByteCount: UInt32) {
      self.compressedByteCount = compressedByteCount
      self.decompressedByteCount = decompressedByteCount
    }
  }

  /// What the last 9 bytes of a file say.
  public struct Footer: Sendable, Equatable {
    /// Entries of the table.
    public var frameCount: UInt32
    /// Each entry has four more bytes.
    public var hasChecksums: Bool
    /// Bytes of the whole skippable frame.
    public var tableByteCount: Int { 17 + Int(frameCount) * (hasChecksums ? 12 : 8) }
  }

  /// Magic of the skippable frame.
  public static let magic: UInt32 = 0x184D_2A5E
  /// Last four bytes of the frame.
  public static let footerMagic: UInt32 = 0x8F92_EAB1
  /// Bytes of the footer.
  public static let footerByteCount = 9
  /// Bytes of frame header and footer.
  public static let overheadByteCount = 17
  /// Frames that a table may hold.
  public static let maximumFrameCount = 0x800_0000

  /// The whole frame.
  ///
  /// - Throws: `limitExceeded` for more than ``maximumFrameCount`` entries.
  public static func encodedFrame(_ entries: [Entry]) throws(FormatError) -> [UInt8] {
    guard entries.count <= maximumFrameCount else {
      throw FormatError(.limitExceeded, "seek table of \(entries.count) frames")
    }
    var frame = SkippableFrame.header(magic: magic, payloadByteCount: UInt32(entries.count * 8 + footerByteCount))
    frame.reserveCapacity(entries.count * 8 + overheadByteCount)
    for entry in entries {
      frame.append(littleEndian: entry.compressedByteCount)
      frame.append(littleEndian: entry.decompressedByteCount)
    }
    appendFooter(frameCount: UInt32(entries.count), to: &frame)
    return frame
  }

  static func appendFooter(frameCount: UInt32, to frame: inout [UInt8]) {
    frame.append(littleEndian: frameCount)
    frame.append(0)
    frame.append(littleEndian: footerMagic)
  }

  /// Reads the last 9 bytes of a file: nil when they are no footer of a seek table.
  ///
  /// - Throws: `malformed` for reserved bits or too many frames.
  public static func parseFooter(_ bytes: Span<UInt8>) throws(FormatError) -> Footer? {
    guard bytes.count == footerByteCount else { return nil }
    var cursor = IndexCursor(0..<footerByteCount)
    let frameCount = try cursor.littleEndian(bytes, as: UInt32.self)
    let descriptor = try cursor.byte(bytes)
    guard try cursor.littleEndian(bytes, as: UInt32.self) == footerMagic else { return nil }
    guard descriptor & 0x7C == 0 else {
      throw FormatError(.malformed, "seek table with reserved bits \(descriptor)", offset: 4)
    }
    guard frameCount <= maximumFrameCount else {
      throw FormatError(.malformed, "seek table of \(frameCount) frames", offset: 0)
    }
    return Footer(frameCount: frameCount, hasChecksums: descriptor & 0x80 != 0)
  }

  /// Reads a whole frame, also one with checksums (which are ignored).
  ///
  /// - Throws: `malformed`, `truncated`.
  public static func parse(_ frame: Span<UInt8>) throws(FormatError) -> [Entry] {
    guard frame.count >= overheadByteCount else {
      throw FormatError(.truncated, "seek table of \(frame.count) bytes")
    }
    var cursor = IndexCursor(0..<(frame.count - footerByteCount))
    guard try cursor.littleEndian(frame, as: UInt32.self) == magic else {
      throw FormatError(.malformed, "no seek table where one is expected", offset: 0)
    }
    let payload = Int(try cursor.littleEndian(frame, as: UInt32.self))
    guard payload + SkippableFrame.headerByteCount == frame.count else {
      throw FormatError(.malformed, "seek table says \(payload + 8) bytes and has \(frame.count)", offset: 4)
    }
    guard let footer = try parseFooter(frame.extracting((frame.count - footerByteCount)..<frame.count)) else {
      throw FormatError(.malformed, "seek table without its footer", offset: UInt64(frame.count - 4))
    }
    guard footer.tableByteCount == frame.count else {
      throw FormatError(.malformed, "seek table of \(footer.frameCount) frames has \(frame.count) bytes")
    }
    var entries: [Entry] = []
    entries.reserveCapacity(Int(footer.frameCount))
    for _ in 0..<footer.frameCount {
      let compressed = try cursor.littleEndian(frame, as: UInt32.self)
      let decompressed = try cursor.littleEndian(frame, as: UInt32.self)
      entries.append(Entry(compressedByteCount: compressed, decompressedByteCount: decompressed))
      if footer.hasChecksums { _ = try cursor.take(4) }
    }
    try cursor.finish()
    return entries
  }
}
