internal import CXXHash

/// A 128-bit XXH3 value in the order in which `xxhsum -H2` prints it.
public struct Hash128: Sendable, Equatable, Hashable {
  /// The upper 64 bits.
  public var high: UInt64
  /// The lower 64 bits.
  public var low: UInt64

  /// Makes a value from its parts.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 lower-case hexadecimal digits.
  public var hexadecimal: String { high.paddedHexadecimal + low.paddedHexadecimal }
}

extension UInt64 {
  /// 16 lower-case hexadecimal digits.
  package var paddedHexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// One-shot XXH3. It finds damage; it does not stop an attacker, who can make collisions.
public enum XXH3 {
  /// XXH3-64 of the bytes, seed 0.
  public static func hash64(_ bytes: Span<UInt8>) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe starc_xxh3_64($0.baseAddress, $0.count) }
  }

  /// XXH3-128 of the bytes, seed 0.
  public static func hash128(_ bytes: Span<UInt8>) -> Hash128 {
    let value = unsafe bytes.withUnsafeBytes { unsafe starc_xxh3_128($0.baseAddress, $0.count) }
    return Hash128(high: value.high64, low: value.low64)
  }
}
