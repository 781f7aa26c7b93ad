/// A generator of numbers that a seed determines; tests print the seed.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts with a seed.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Bytes that do not compress.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    // The count of an empty one would be written to what all empty arrays share.
    if count == 0 { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: (count + 7) & ~7) { buffer, initialized in
      // Whole words: tests make megabytes without optimization.
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var offset = 0
      while offset < count {
        unsafe bytes.storeBytes(of: next().littleEndian, toByteOffset: offset, as: UInt64.self)
        offset += 8
      }
      initialized = count
    }
  }
}
