/// A Bloom filter over the XXH3-64 of member paths: says which pages may hold a name. 10 bits a member, 7 probes.
public enum NameFilter {
  /// Bytes of the filter of a page with so many members: 10 bits a member, rounded up to 8 bytes.
  public static func byteCount(memberCount: Int) -> Int { (memberCount * 10 + 63) / 64 * 8 }

  /// The hash that filters are made of and asked for.
  public static func hash(_ path: Span<UInt8>) -> UInt64 { XXH3.hash64(path) }

  /// The filter of a page from the hashes of its members' paths (one a member, repeated names included).
  public static func make(hashes: [UInt64]) -> [UInt8] {
    var filter = [UInt8](repeating: 0, count: byteCount(memberCount: hashes.count))
    let bitCount = UInt64(filter.count * 8)
    for hash in hashes {
      for probe in 0..<probeCount {
        let bit = Self.bit(hash, probe, bitCount)
        filter[bit / 8] |= 1 << UInt8(bit % 8)
      }
    }
    return filter
  }

  /// False when no member of the page has this hash. `filter` is the page's, possibly within a longer array.
  public static func mayContain(_ hash: UInt64, filter: Span<UInt8>) -> Bool {
    guard !filter.isEmpty else { return false }
    let bitCount = UInt64(filter.count * 8)
    for probe in 0..<probeCount {
      let bit = Self.bit(hash, probe, bitCount)
      if filter[bit / 8] >> UInt8(bit % 8) & 1 == 0 { return false }
    }
    return true
  }

  private static let probeCount: UInt64 = 7

  /// Bit of a probe: the hash plus so many times its odd rotation; the upper 32 bits scaled to the number of bits.
  private static func bit(_ hash: UInt64, _ probe: UInt64, _ bitCount: UInt64) -> Int {
    let step = (hash << 32 | hash >> 32) | 1
    let mixed = (hash &+ probe &* step) >> 32
    return Int((mixed &* bitCount) >> 32)
  }
}
