/// What our skippable frames are.
public enum IndexFrameKind: UInt8, Sendable, CaseIterable {
  case preamble = 1
  case page = 2
  case directory = 3
  case root = 4
}

/// zstd skippable frames and the index header that begins the payload of ours.
public enum SkippableFrame {
  /// Magic of our frames. 0x184D2A50 is pzstd's, 0x184D2A5E the seek table's.
  public static let magic: UInt32 = 0x184D_2A5D
  /// Bytes of magic and payload size.
  public static let headerByteCount = 8
  /// Bytes of frame header and index header.
  public static let prefixByteCount = 16
  /// The version of the format that this code writes and reads.
  public static let formatVersion: UInt8 = 1
  /// The first bytes of the payload of our frames: "STIX".
  public static let signature: [UInt8] = [0x53, 0x54, 0x49, 0x58]

  /// Magic and payload size of any skippable frame.
  public static func header(magic: UInt32 = Self.magic, payloadByteCount: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: magic)
    bytes.append(littleEndian: payloadByteCount)
    return bytes
  }

  /// The 16 bytes that begin a frame of ours whose payload behind the index header has the given size.
  public static func prefix(_ kind: IndexFrameKind, bodyByteCount: Int) throws(FormatError) -> [UInt8] {
    throw FormatError(.unsupported, "later")
  }

  /// A whole frame of ours.
  public static func wrap(_ kind: IndexFrameKind, body: [UInt8]) throws(FormatError) -> [UInt8] {
    throw FormatError(.unsupported, "later")
  }

  /// What the frame is that begins with `bytes` (at least 16): nil when it is not ours.
  ///
  /// - Throws: `unsupported` for a frame of ours of another version or kind, `malformed` for non-zero reserved bytes.
  public static func kind(_ bytes: Span<UInt8>) throws(FormatError) -> IndexFrameKind? {
    throw FormatError(.unsupported, "later")
  }

  /// Checks that `frame` is exactly one frame of ours of this kind; the result is the range behind the index header.
  ///
  /// - Throws: `malformed`, `truncated`, `unsupported`, offsets in the frame.
  public static func parse(_ kind: IndexFrameKind, _ frame: Span<UInt8>) throws(FormatError) -> Range<Int> {
    throw FormatError(.unsupported, "later")
  }
}
