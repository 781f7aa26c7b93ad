/// Counts the memory that a page takes while it is decoded. A page of some kilobytes can hold a million attributes.
package struct PageMemory {
  /// Bytes that may still be taken.
  private(set) var left: Int
  private let total: Int
  /// Of an array, beside its elements: its header, and what the allocator adds.
  private static let arrayByteCount = 48

  package init(_ byteCount: Int) { (left, total) = (byteCount, byteCount) }

  /// Bytes that were taken.
  package var used: Int { total - left }

  /// To be called before the memory is taken.
  mutating func take(_ byteCount: Int) throws(FormatError) {
    guard byteCount <= left else {
      throw FormatError(
        .limitExceeded,
        "the page takes more memory than the \(total) bytes that are allowed; raise --memory-limit to read it")
    }
    left -= byteCount
  }

  /// The same for the bytes of a string.
  mutating func takeString(_ byteCount: Int) throws(FormatError) {
    if byteCount > 0 { try take(byteCount + Self.arrayByteCount) }
  }
}
