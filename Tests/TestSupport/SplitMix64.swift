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
    var result: [UInt8] = []
    result.reserveCapacity(count + 8)
    while result.count < count {
      var word = next()
      for _ in 0..<8 {
        result.append(UInt8(truncatingIfNeeded: word))
        word >>= 8
      }
    }
    result.removeLast(result.count - count)
    return result
  }
}
