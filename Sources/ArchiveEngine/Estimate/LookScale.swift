internal import ArchiveFormat

/// From the frame of a few samples to that of their chunk: what frames have besides their content must not be multiplied, or
/// chunks that compress to nearly nothing look large.
struct LookScale {
  /// Bytes of the chunk.
  let contentByteCount: Int
  /// Bytes of the samples.
  let lookedAt: Int

  /// Frame header, checksum and the header of one block.
  private static let overheadByteCount = 17

  /// What the chunk may compress to, as far as nothing repeats over larger distances than in the samples.
  func frameByteCount(_ byteCount: Int) -> Double {
    let content = max(0, byteCount - Self.overheadByteCount)
    let blocks = RawFrame.blockCount(contentByteCount: contentByteCount)
    return Double(Self.overheadByteCount + 3 * blocks)
      + Double(content) * Double(contentByteCount) / Double(max(1, lookedAt))
  }
}
