/// Walks the blocks of a frame as its bytes arrive, so that its end is found without decompression.
public struct ZstdFrameWalker: Sendable {
  /// The frame's header, as soon as it is known.
  public private(set) var header: ZstdFraming.FrameStart?
  /// Bytes of the frame so far.
  public private(set) var byteCount: UInt64 = 0
  /// All bytes of the frame have been seen.
  public private(set) var isComplete = false
  /// No block of a data frame so far was compressed or run-length coded.
  public private(set) var hasOnlyRawBlocks = true

  /// Largest block (RFC 8878, section 3.1.1.2.4).
  public static let maximumBlockByteCount = 128 << 10

  private enum Step {
    case header, blockHeader, checksum
  }

  /// What the collected bytes are.
  private var step = Step.header
  /// Bytes of a header that is not complete yet.
  private var collected: [UInt8] = []
  /// Bytes to pass over before the next step.
  private var skipped: UInt64 = 0
  private var isLastBlock = false

  /// Waits for the first byte of a frame.
  public init() { collected.reserveCapacity(ZstdFraming.maximumHeaderByteCount) }

  /// Takes bytes of the frame from `range` of `bytes` and stops at the frame's end.
  ///
  /// - Returns: how many bytes belong to the frame (all of the range unless it is complete), and whether it ended.
  /// - Throws: `malformed`, with the offset in the frame. The walker is of no use after it.
  public mutating func consume(_ bytes: Span<UInt8>, in range: Range<Int>) throws(FormatError) -> (
    consumed: Int, isComplete: Bool
  ) {
    var position = range.lowerBound
    let end = min(range.upperBound, bytes.count)
    while position < end, !isComplete {
      if skipped > 0 {
        let count = min(skipped, UInt64(end - position))
        skipped -= count
        byteCount += count
        position += Int(count)
        if skipped == 0 { afterBlock() }
        continue
      }
      collected.append(bytes[position])
      byteCount += 1
      position += 1
      switch step {
      case .header: try readHeader()
      case .blockHeader where collected.count == 3: try readBlockHeader()
      case .checksum where collected.count == 4: isComplete = true
      default: break
      }
    }
    return (max(0, position - range.lowerBound), isComplete)
  }

  private mutating func readHeader() throws(FormatError) {
    guard let start = try ZstdFraming.parseStart(collected.span) else { return }
    header = start
    collected.removeAll(keepingCapacity: true)
    switch start {
    case .data: step = .blockHeader
    case .skippable(_, let payloadByteCount):
      skipped = UInt64(payloadByteCount)
      isLastBlock = true
      if payloadByteCount == 0 { isComplete = true }
    }
  }

  private mutating func readBlockHeader() throws(FormatError) {
    let value = UInt32(collected[0]) | UInt32(collected[1]) << 8 | UInt32(collected[2]) << 16
    collected.removeAll(keepingCapacity: true)
    isLastBlock = value & 1 == 1
    let size = Int(value >> 3)
    guard size <= Self.maximumBlockByteCount else {
      throw FormatError(.malformed, "zstd block of \(size) bytes", offset: byteCount - 3)
    }
    switch value >> 1 & 3 {
    case 0: skipped = UInt64(size)
    case 1:
      skipped = 1
      hasOnlyRawBlocks = false
    case 2:
      skipped = UInt64(size)
      hasOnlyRawBlocks = false
    default: throw FormatError(.malformed, "zstd block of the reserved type", offset: byteCount - 3)
    }
    if skipped == 0 { afterBlock() }
  }

  private mutating func afterBlock() {
    guard isLastBlock else { return }
    if case .data(let header) = header, header.hasChecksum {
      step = .checksum
    } else {
      isComplete = true
    }
  }
}
