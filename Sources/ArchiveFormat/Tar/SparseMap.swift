/// Collects the extents of a sparse file and checks each: in order, disjoint, inside of the file, bounded in number.
struct SparseMap: Sendable {
  private let realByteCount: UInt64
  private(set) var extents: [SparseExtent] = []
  private(set) var storedByteCount: UInt64 = 0
  /// Extents seen, empty ones included.
  private(set) var count = 0
  /// True when an extent that is not the last one is no multiple of 512 bytes long.
  private(set) var hasUnalignedExtent = false
  private var end: UInt64 = 0

  init(realByteCount: UInt64) { self.realByteCount = realByteCount }

  /// Takes the next extent. Empty ones are checked and dropped.
  mutating func append(offset: UInt64, byteCount: UInt64) throws(FormatError) {
    guard count < TarLimits.maximumSparseExtentCount else {
      throw FormatError(.limitExceeded, "more than \(TarLimits.maximumSparseExtentCount) sparse extents")
    }
    count += 1
    guard offset >= end else {
      throw FormatError(.malformed, "a sparse extent begins at \(offset), before the end \(end) of the one before it")
    }
    guard offset <= realByteCount, byteCount <= realByteCount - offset else {
      throw FormatError(
        .malformed, "a sparse extent of \(byteCount) bytes at \(offset) is outside of the file of \(realByteCount)")
    }
    guard byteCount > 0 else { return }
    if storedByteCount % UInt64(TarLimits.blockByteCount) != 0 { hasUnalignedExtent = true }
    end = offset + byteCount
    // Disjoint parts of the file: the sum is at most its size.
    storedByteCount += byteCount
    extents.append(SparseExtent(offset: offset, byteCount: byteCount))
  }

  /// Compares the extents with what the header says is stored.
  func check(dataByteCount: UInt64) throws(FormatError) {
    guard storedByteCount == dataByteCount else {
      throw FormatError(
        .malformed, "the sparse extents have \(storedByteCount) bytes, the member stores \(dataByteCount)")
    }
  }
}

/// Reads the map of GNU sparse 1.0, which lies in the first blocks of the stored data: the number of extents, then
/// offset and size of each, every number in decimal with a newline (GNU tar manual, "Storing Sparse Files").
struct SparseMapDecoder: Sendable {
  private(set) var map: SparseMap
  private var expectedCount: Int?
  private var offset: UInt64?
  private var number: UInt64 = 0
  private var digitCount = 0
  private let maximumCount: UInt64

  /// - Parameter storedByteCount: map and data as the header states them; it bounds the number of extents.
  init(realByteCount: UInt64, storedByteCount: UInt64) {
    map = SparseMap(realByteCount: realByteCount)
    // An extent takes four bytes of map at least.
    maximumCount = storedByteCount / 4
  }

  var isComplete: Bool { expectedCount.map { map.count == $0 } ?? false }

  /// Takes one block of the map. What follows the last number in it is padding.
  mutating func take(_ block: Span<UInt8>) throws(FormatError) {
    var index = 0
    while index < block.count, !isComplete {
      let byte = block[index]
      index += 1
      if byte == 0x0A {
        guard digitCount > 0 else { throw FormatError(.malformed, "an empty number in the sparse map") }
        try takeNumber()
        number = 0
        digitCount = 0
        continue
      }
      guard (0x30...0x39).contains(byte), digitCount < 19 else {
        throw FormatError(.malformed, "the sparse map has byte \(byte) or a number of more than 19 digits")
      }
      // 19 digits are below 2^64.
      number = number * 10 + UInt64(byte - 0x30)
      digitCount += 1
    }
  }

  private mutating func takeNumber() throws(FormatError) {
    guard expectedCount != nil else {
      guard number <= UInt64(TarLimits.maximumSparseExtentCount) else {
        throw FormatError(
          .limitExceeded,
          "the sparse map announces \(number) extents, the limit is \(TarLimits.maximumSparseExtentCount)")
      }
      guard number <= maximumCount else {
        throw FormatError(.malformed, "the sparse map announces \(number) extents, more than the member can hold")
      }
      expectedCount = Int(number)
      return
    }
    guard let start = offset else {
      offset = number
      return
    }
    offset = nil
    try map.append(offset: start, byteCount: number)
  }
}
