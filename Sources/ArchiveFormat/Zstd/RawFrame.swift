/// A frame of raw blocks around content that is written as it is: frame header, then for each block of at most
/// 128 KiB its header and its bytes, then the checksum (low 4 bytes of the content's XXH64, little-endian).
public enum RawFrame {
  /// Largest block.
  public static let blockByteCount = 128 << 10
  /// Largest content of a single segment: our windows are at most 8 MiB.
  public static let maximumWindowByteCount = 8 << 20

  /// Magic and header of a frame with content size and checksum: a single segment up to 8 MiB, else a window of 8 MiB.
  public static func frameHeader(contentByteCount: Int) -> [UInt8] { [] }

  /// The three bytes before a block of 0...``blockByteCount`` bytes.
  public static func blockHeader(byteCount: Int, isLast: Bool) -> [UInt8] { [] }

  /// The last four bytes of the frame.
  public static func checksum(xxh64: UInt64) -> [UInt8] { [] }

  /// Bytes of the whole frame. Empty content has one empty block.
  public static func frameByteCount(contentByteCount: Int) -> Int { 0 }
}
