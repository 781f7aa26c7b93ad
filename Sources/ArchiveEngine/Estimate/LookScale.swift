internal import ArchiveFormat

/// From the frame of a few samples to that of their chunk: what frames have besides their content must not be multiplied, or
/// chunks that compress to nearly nothing look large.
struct LookScale {
  /// Bytes of the chunk.
  let contentByteCount: Int
  /// Bytes of the samples.
  let lookedAt: Int

  /// The members' headers that are in the chunk, but not in the samples.
  var headerCount = 0

  /// Frame header, checksum, and the least that a block of anything has.
  private static let overheadByteCount = 20
  /// What a header with a pax record compresses to, more or less.
  private static let headerByteCount = 110

  /// What the chunk may compress to, as far as nothing repeats over larger distances than in the samples.
  func frameByteCount(_ byteCount: Int) -> Double {
    let content = max(0, byteCount - Self.overheadByteCount)
    let blocks = RawFrame.blockCount(contentByteCount: contentByteCount)
    return Double(Self.overheadByteCount + 3 * blocks + Self.headerByteCount * headerCount)
      + Double(content) * Double(contentByteCount) / Double(max(1, lookedAt))
  }
}
