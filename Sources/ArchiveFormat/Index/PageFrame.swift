/// A page as stored: skippable frame, index header, decoded size, one zstd frame. The compression is the caller's.
public enum PageFrame {
  /// Bytes before the zstd frame.
  public static let prefixByteCount = 20

  /// The bytes before a page's zstd frame.
  ///
  /// - Throws: `limitExceeded`.
  public static func prefix(compressedByteCount: Int, decodedByteCount: Int) throws(FormatError) -> [UInt8] {
    throw FormatError(.unsupported, "later")
  }

  /// The whole frame around a zstd frame that states its content size.
  ///
  /// - Throws: `limitExceeded`.
  public static func wrap(compressed: Span<UInt8>, decodedByteCount: Int) throws(FormatError) -> [UInt8] {
    throw FormatError(.unsupported, "later")
  }

  /// Checks a whole page frame: exact lengths, one zstd frame whose content size is the stated one, nothing after.
  ///
  /// - Returns: the size of the decoded payload and where in `frame` the zstd frame lies.
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported` (other version), offsets in the frame.
  public static func parse(_ frame: Span<UInt8>) throws(FormatError) -> (
    decodedByteCount: Int, compressed: Range<Int>
  ) { throw FormatError(.unsupported, "later") }
}
