/// The seek table of zstd's seekable format 0.1.0, without checksums: the last frame of an archive.
public enum SeekTable {
  /// Sizes of one frame, skippable ones included (with decompressed size 0).
  public struct Entry: Sendable, Equatable {
    public var compressedByteCount: UInt32
    public var decompressedByteCount: UInt32

    /// An entry of a frame.
    public init(compressedByteCount: UInt32, decompressedByteCount: UInt32) {
      self.compressedByteCount = compressedByteCount
      self.decompressedByteCount = decompressedByteCount
    }
  }

  /// What the last 9 bytes of a file say.
  public struct Footer: Sendable, Equatable {
    public var frameCount: UInt32
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
    throw FormatError(.unsupported, "later")
  }

  /// Reads the last 9 bytes of a file: nil when they are no footer of a seek table.
  ///
  /// - Throws: `malformed` for reserved bits or too many frames.
  public static func parseFooter(_ bytes: Span<UInt8>) throws(FormatError) -> Footer? { nil }

  /// Reads a whole frame, also one with checksums (which are ignored).
  ///
  /// - Throws: `malformed`, `truncated`.
  public static func parse(_ frame: Span<UInt8>) throws(FormatError) -> [Entry] {
    throw FormatError(.unsupported, "later")
  }
}
