/// A page as stored: skippable frame, index header, decoded size, one zstd frame. The compression is the caller's.
public enum PageFrame {
  /// Bytes before the zstd frame.
  public static let prefixByteCount = 20

  /// The bytes before a page's zstd frame.
  ///
  /// - Throws: `limitExceeded`.
  public static func prefix(compressedByteCount: Int, decodedByteCount: Int) throws(FormatError) -> [UInt8] {
    guard (1...IndexLimits.pageByteCount).contains(decodedByteCount),
      compressedByteCount >= 0, compressedByteCount <= IndexLimits.pageFrameByteCount - prefixByteCount
    else {
      throw FormatError(
        .limitExceeded, "page of \(decodedByteCount) bytes, \(compressedByteCount) compressed")
    }
    var bytes = try SkippableFrame.prefix(.page, bodyByteCount: compressedByteCount + 4)
    bytes.append(littleEndian: UInt32(decodedByteCount))
    return bytes
  }

  /// The whole frame around a zstd frame that states its content size.
  ///
  /// - Throws: `limitExceeded`.
  public static func wrap(compressed: Span<UInt8>, decodedByteCount: Int) throws(FormatError) -> [UInt8] {
    var bytes = try prefix(compressedByteCount: compressed.count, decodedByteCount: decodedByteCount)
    bytes.append(contentsOf: [UInt8](copying: compressed, 0..<compressed.count))
    return bytes
  }

  /// Checks a whole page frame: exact lengths, one zstd frame whose content size is the stated one, nothing after.
  ///
  /// - Returns: the size of the decoded payload and where in `frame` the zstd frame lies.
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported` (other version), offsets in the frame.
  public static func parse(_ frame: Span<UInt8>) throws(FormatError) -> (
    decodedByteCount: Int, compressed: Range<Int>
  ) {
    guard frame.count <= IndexLimits.pageFrameByteCount else {
      throw FormatError(.limitExceeded, "page frame of \(frame.count) bytes")
    }
    var cursor = IndexCursor(try SkippableFrame.parse(.page, frame))
    let decoded = Int(try cursor.littleEndian(frame, as: UInt32.self))
    guard (1...IndexLimits.pageByteCount).contains(decoded) else {
      throw cursor.failure(.limitExceeded, "page of \(decoded) bytes")
    }
    let range = cursor.offset..<cursor.end
    var walker = ZstdFrameWalker()
    let result: (consumed: Int, isComplete: Bool)
    do {
      result = try walker.consume(frame, in: range)
    } catch {
      throw FormatError(error.code, "page: \(error.message)", offset: (error.offset ?? 0) + UInt64(range.lowerBound))
    }
    guard result.isComplete else { throw cursor.failure(.truncated, "page: zstd frame without its end") }
    guard result.consumed == range.count else { throw cursor.failure(.malformed, "page: bytes behind the zstd frame") }
    guard case .data(let header) = walker.header, header.contentByteCount == UInt64(decoded) else {
      throw cursor.failure(.malformed, "page: the zstd frame does not state the page's size \(decoded)")
    }
    guard header.windowByteCount <= UInt64(IndexLimits.pageByteCount), (header.dictionaryID ?? 0) == 0 else {
      throw cursor.failure(.malformed, "page: zstd frame with a dictionary or a too large window")
    }
    return (decoded, range)
  }
}
