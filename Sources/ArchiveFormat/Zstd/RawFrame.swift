/// A frame of raw blocks around content that is written as it is: frame header, then for each block of at most
/// 128 KiB its header and its bytes, then the checksum (low 4 bytes of the content's XXH64, little-endian).
public enum RawFrame {
  /// Largest block.
  public static let blockByteCount = 128 << 10
  /// Largest content of a single segment: our windows are at most 8 MiB.
  public static let maximumWindowByteCount = 8 << 20

  /// Magic and header of a frame with content size and checksum: a single segment up to 8 MiB, else a window of 8 MiB.
  ///
  /// `contentByteCount` is 0...4,294,967,295.
  public static func frameHeader(contentByteCount: Int) -> [UInt8] {
    let size = UInt32(clamping: contentByteCount)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(10)
    bytes.append(littleEndian: ZstdFraming.magic)
    switch size {
    case 0..<256:
      bytes.append(0x24)
      bytes.append(UInt8(size))
    case 256..<65_792:
      bytes.append(0x64)
      bytes.append(littleEndian: UInt16(size - 256))
    case ...UInt32(maximumWindowByteCount):
      bytes.append(0xA4)
      bytes.append(littleEndian: size)
    default:
      bytes.append(0x84)
      // Exponent 13: a window of 2^23 bytes.
      bytes.append(13 << 3)
      bytes.append(littleEndian: size)
    }
    return bytes
  }

  /// The three bytes before a block of 0...``blockByteCount`` bytes.
  public static func blockHeader(byteCount: Int, isLast: Bool) -> [UInt8] {
    let value = UInt32(clamping: byteCount) << 3 | (isLast ? 1 : 0)
    return [
      UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value >> 16),
    ]
  }

  /// The last four bytes of the frame.
  public static func checksum(xxh64: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: UInt32(truncatingIfNeeded: xxh64))
    return bytes
  }

  /// Blocks of the frame: empty content has one empty block.
  public static func blockCount(contentByteCount: Int) -> Int {
    max(1, (contentByteCount + blockByteCount - 1) / blockByteCount)
  }

  /// Bytes of the whole frame.
  public static func frameByteCount(contentByteCount: Int) -> Int {
    let header =
      switch contentByteCount {
      case ..<256: 6
      case ..<65_792: 7
      case ...maximumWindowByteCount: 9
      default: 10
      }
    return header + blockCount(contentByteCount: contentByteCount) * 3 + contentByteCount + 4
  }
}
