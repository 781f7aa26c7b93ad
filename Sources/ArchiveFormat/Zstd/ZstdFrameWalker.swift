/// Walks the blocks of a frame as its bytes arrive, so that its end is found without decompression.
public struct ZstdFrameWalker: Sendable {
  /// The frame's header, as soon as it is known.
  public private(set) var header: ZstdFraming.FrameStart?
  /// Bytes of the frame so far.
  public private(set) var byteCount: UInt64 = 0
  /// All bytes of the frame have been seen.
  public private(set) var isComplete = false
  /// Blocks of a data frame that have begun, and whether all were raw.
  public private(set) var hasOnlyRawBlocks = true

  /// Waits for the first byte of a frame.
  public init() {}

  /// Takes bytes of the frame from `range` of `bytes` and stops at the frame's end.
  ///
  /// - Returns: how many bytes belong to the frame (all of the range unless it is complete), and whether it ended.
  /// - Throws: `malformed`, with the offset in the frame.
  public mutating func consume(_ bytes: Span<UInt8>, in range: Range<Int>) throws(FormatError) -> (
    consumed: Int, isComplete: Bool
  ) { throw FormatError(.unsupported, "later") }
}
