/// What a zstd frame header says (RFC 8878, section 3.1.1.1).
public struct ZstdFrameHeader: Sendable, Equatable {
  /// Bytes that a decoder must be able to look back; the content size for a single segment.
  public var windowByteCount: UInt64
  /// Size of the content, when stated.
  public var contentByteCount: UInt64?
  /// Dictionary that is needed to decode, when stated (0 is none).
  public var dictionaryID: UInt32?
  /// A checksum of 4 bytes follows the last block.
  public var hasChecksum: Bool
  /// The content is one segment of memory: no window descriptor.
  public var isSingleSegment: Bool
  /// Bytes of magic and header: 6...18.
  public var headerByteCount: Int

  /// A header from its parts.
  public init(
    windowByteCount: UInt64, contentByteCount: UInt64?, dictionaryID: UInt32?, hasChecksum: Bool,
    isSingleSegment: Bool, headerByteCount: Int
  ) {
    self.windowByteCount = windowByteCount
    self.contentByteCount = contentByteCount
    self.dictionaryID = dictionaryID
    self.hasChecksum = hasChecksum
    self.isSingleSegment = isSingleSegment
    self.headerByteCount = headerByteCount
  }
}

/// The outside of zstd frames, without decompression.
public enum ZstdFraming {
  /// Magic of a data frame.
  public static let magic: UInt32 = 0xFD2F_B528
  /// Bytes that suffice for ``parseStart(_:at:)`` in all cases.
  public static let maximumHeaderByteCount = 18

  /// 0x184D2A50...0x184D2A5F.
  public static func isSkippable(_ magic: UInt32) -> Bool { magic & 0xFFFF_FFF0 == 0x184D_2A50 }

  /// How a frame begins.
  public enum FrameStart: Sendable, Equatable {
    /// A frame of compressed data.
    case data(ZstdFrameHeader)
    /// A frame of bytes that decoders skip.
    case skippable(magic: UInt32, payloadByteCount: UInt32)

    /// Bytes of magic and header.
    public var headerByteCount: Int {
      switch self {
      case .data(let header): header.headerByteCount
      case .skippable: 8
      }
    }
  }

  /// Reads the frame header at `offset`; nil when more bytes are needed.
  ///
  /// - Throws: `malformed` for bytes that begin no frame or have a reserved bit set; offsets in `bytes`.
  public static func parseStart(_ bytes: Span<UInt8>, at offset: Int = 0) throws(FormatError) -> FrameStart? {
    guard offset >= 0, offset <= bytes.count else { return nil }
    let available = bytes.count - offset
    guard available >= 4 else { return nil }
    let magic = UInt32(truncatingIfNeeded: integer(bytes, offset, 4))
    if isSkippable(magic) {
      guard available >= 8 else { return nil }
      let payload = UInt32(truncatingIfNeeded: integer(bytes, offset + 4, 4))
      return .skippable(magic: magic, payloadByteCount: payload)
    }
    guard magic == Self.magic else {
      throw FormatError(
        .malformed, "0x\(String(magic, radix: 16)) does not begin a zstd frame", offset: UInt64(offset))
    }
    guard available >= 5 else { return nil }
    let descriptor = bytes[offset + 4]
    guard descriptor & 0x08 == 0 else {
      throw FormatError(.malformed, "zstd frame header with a reserved bit", offset: UInt64(offset + 4))
    }
    let isSingleSegment = descriptor & 0x20 != 0
    let windowCount = isSingleSegment ? 0 : 1
    let dictionaryCount = [0, 1, 2, 4][Int(descriptor & 3)]
    let sizeFlag = Int(descriptor >> 6)
    let sizeCount = sizeFlag == 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag
    let headerByteCount = 5 + windowCount + dictionaryCount + sizeCount
    guard available >= headerByteCount else { return nil }
    var position = offset + 5 + windowCount
    let dictionaryID = UInt32(truncatingIfNeeded: integer(bytes, position, dictionaryCount))
    position += dictionaryCount
    var contentByteCount: UInt64?
    if sizeCount > 0 { contentByteCount = integer(bytes, position, sizeCount) &+ (sizeCount == 2 ? 256 : 0) }
    var windowByteCount = contentByteCount ?? 0
    if !isSingleSegment {
      let exponent = UInt64(bytes[offset + 5] >> 3)
      let base: UInt64 = 1 << (10 + exponent)
      windowByteCount = base + base / 8 * UInt64(bytes[offset + 5] & 7)
    }
    return .data(
      ZstdFrameHeader(
        windowByteCount: windowByteCount, contentByteCount: contentByteCount,
        dictionaryID: dictionaryCount == 0 ? nil : dictionaryID, hasChecksum: descriptor & 0x04 != 0,
        isSingleSegment: isSingleSegment, headerByteCount: headerByteCount))
  }

  /// Whether bytes that are too few for a frame header may be the beginning of one.
  public static func mayBegin(_ bytes: Span<UInt8>) -> Bool {
    var (isData, isSkippable) = (true, true)
    for index in 0..<min(bytes.count, 4) {
      let expected = UInt8(truncatingIfNeeded: magic >> UInt32(8 * index))
      let skippable = UInt8(truncatingIfNeeded: 0x184D_2A50 as UInt32 >> UInt32(8 * index))
      if bytes[index] != expected { isData = false }
      if index == 0 ? bytes[0] & 0xF0 != skippable : bytes[index] != skippable { isSkippable = false }
    }
    return isData || isSkippable
  }

  private static func integer(_ bytes: Span<UInt8>, _ offset: Int, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<count { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
    return value
  }
}
