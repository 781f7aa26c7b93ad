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
    case data(ZstdFrameHeader)
    case skippable(magic: UInt32, payloadByteCount: UInt32)

    /// Bytes of the header.
    public var headerByteCount: Int {
      switch self {
      case .data(let header): header.headerByteCount
      case .skippable: 8
      }
    }
  }

  /// Reads the frame header at `offset`; nil when more bytes are needed.
  ///
  /// - Throws: `malformed` for bytes that begin no frame or a reserved bit; offset as given.
  public static func parseStart(_ bytes: Span<UInt8>, at offset: Int = 0) throws(FormatError) -> FrameStart? {
    throw FormatError(.unsupported, "later")
  }
}
