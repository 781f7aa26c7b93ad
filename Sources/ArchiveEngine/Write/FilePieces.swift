/// Where a large file is cut: every chunk size; a remainder under a quarter joins the piece before it.
///
/// Each piece is worked out when it is asked for: a file of a petabyte costs no more memory than a small one.
struct FilePieces {
  private let storedByteCount: UInt64
  private let chunkByteCount: UInt64
  /// How many pieces there are.
  let count: UInt64

  /// - Parameter chunkByteCount: greater than 0.
  init(storedByteCount: UInt64, chunkByteCount: UInt64) {
    self.storedByteCount = storedByteCount
    self.chunkByteCount = chunkByteCount
    let (whole, rest) = storedByteCount.quotientAndRemainder(dividingBy: chunkByteCount)
    let isRestOfItsOwn = rest > 0 && (whole == 0 || rest >= chunkByteCount / 4)
    count = whole + (isRestOfItsOwn ? 1 : 0)
  }

  /// The stored bytes of piece `index`, which is less than ``count``.
  subscript(index: UInt64) -> Range<UInt64> {
    let start = index * chunkByteCount
    return start..<(index == count - 1 ? storedByteCount : start + chunkByteCount)
  }
}
