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
    guard bodyByteCount >= 0, bodyByteCount <= Int(UInt32.max) - 8 else {
      throw FormatError(.limitExceeded, "frame with a body of \(bodyByteCount) bytes")
    }
    var bytes = header(payloadByteCount: UInt32(bodyByteCount + 8))
    bytes.append(contentsOf: signature)
    bytes.append(kind.rawValue)
    bytes.append(formatVersion)
    bytes.append(littleEndian: UInt16(0))
    return bytes
  }

  /// A whole frame of ours.
  public static func wrap(_ kind: IndexFrameKind, body: [UInt8]) throws(FormatError) -> [UInt8] {
    return try prefix(kind, bodyByteCount: body.count) + body
  }

  /// What the frame is that begins with `bytes` (at least 16): nil when it is not ours.
  ///
  /// - Throws: `unsupported` for a frame of ours of another version or kind, `malformed` for non-zero reserved bytes.
  public static func kind(_ bytes: Span<UInt8>) throws(FormatError) -> IndexFrameKind? {
    guard bytes.count >= prefixByteCount else { return nil }
    var cursor = IndexCursor(0..<prefixByteCount)
    guard try cursor.littleEndian(bytes, as: UInt32.self) == magic else { return nil }
    let payload = try cursor.littleEndian(bytes, as: UInt32.self)
    for byte in signature where try cursor.byte(bytes) != byte { return nil }
    let kind = try cursor.byte(bytes)
    let version = try cursor.byte(bytes)
    guard version == formatVersion else {
      throw cursor.failure(.unsupported, "index of version \(version); this reads version \(formatVersion)")
    }
    guard let known = IndexFrameKind(rawValue: kind) else {
      throw cursor.failure(.unsupported, "index frame of unknown kind \(kind)")
    }
    guard try cursor.littleEndian(bytes, as: UInt16.self) == 0 else {
      throw cursor.failure(.malformed, "reserved bytes of an index header are not zero")
    }
    guard payload >= 8 else { throw cursor.failure(.malformed, "index frame of \(payload) bytes") }
    return known
  }

  /// Checks that `frame` is exactly one frame of ours of this kind; the result is the range behind the index header.
  ///
  /// - Throws: `malformed`, `truncated`, `unsupported`, offsets in the frame.
  public static func parse(_ kind: IndexFrameKind, _ frame: Span<UInt8>) throws(FormatError) -> Range<Int> {
    guard frame.count >= prefixByteCount else {
      throw FormatError(.truncated, "index frame of \(frame.count) bytes", offset: UInt64(frame.count))
    }
    guard let found = try Self.kind(frame) else {
      throw FormatError(.malformed, "no index frame where one is expected", offset: 0)
    }
    guard found == kind else {
      throw FormatError(.malformed, "index frame of kind \(found) where a \(kind) is expected", offset: 12)
    }
    var cursor = IndexCursor(4..<8)
    let payload = Int(try cursor.littleEndian(frame, as: UInt32.self))
    guard payload + headerByteCount == frame.count else {
      throw FormatError(
        payload + headerByteCount > frame.count ? .truncated : .malformed,
        "index frame says \(payload + headerByteCount) bytes and has \(frame.count)", offset: 4)
    }
    return prefixByteCount..<frame.count
  }
}
