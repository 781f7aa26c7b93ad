/// Numbers and bytes that a seed determines, the same on every machine (SplitMix64).
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts with a seed.
  package init(seed: UInt64) { state = seed }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// A number below a bound. Not `Int.random(in:)`, whose way may change with the standard library.
  package mutating func below(_ bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(max(bound, 1))).high) }

  /// A number below a bound, small ones more often: as words and sizes are spread.
  package mutating func skewed(below bound: Int) -> Int {
    let first = below(1 << 16)
    return first * first / (1 << 16) * first / (1 << 16) * bound / (1 << 16)
  }

  /// Bytes that do not compress.
  package mutating func bytes(_ count: Int) -> [UInt8] {
    [UInt8](capacity: (count + 7) & ~7) { output in
      for _ in 0..<(count + 7) / 8 {
        var word = next()
        for _ in 0..<8 {
          output.append(UInt8(truncatingIfNeeded: word))
          word >>= 8
        }
      }
      if output.count > count { output.removeLast(output.count - count) }
    }
  }
}
