/// A Bloom filter over the XXH3-64 of member paths: says which pages may hold a name. 10 bits a member, 7 probes.
public enum NameFilter {
  /// Bytes of the filter of a page with so many members: 10 bits a member, rounded up to 8 bytes.
  public static func byteCount(memberCount: Int) -> Int { (memberCount * 10 + 63) / 64 * 8 }

  /// The hash that filters are made of and asked for.
  public static func hash(_ path: Span<UInt8>) -> UInt64 { XXH3.hash64(path) }

  /// The filter of a page from the hashes of its members' paths (one a member, repeated names included).
  public static func make(hashes: [UInt64]) -> [UInt8] { [] }

  /// False when no member of the page has this hash. `filter` is the page's, possibly within a longer array.
  public static func mayContain(_ hash: UInt64, filter: Span<UInt8>) -> Bool { false }
}
