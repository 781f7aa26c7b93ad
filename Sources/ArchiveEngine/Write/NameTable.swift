internal import ArchiveFormat

/// The set of member paths used so far, each with the fact whether it is a directory.
///
/// Holds 63 bits of XXH3-64 a path, at most 14 bytes an entry: two different paths are taken for the same with a probability of
/// 5e-6 among ten million, and then one is refused.
struct NameTable: Sendable {
  private static let shardCount = 64

  /// What is known of a path.
  enum Entry: Sendable { case directory, other }

  private struct Shard {
    var slots: [UInt64] = []
    var count = 0

    private static func place(_ key: UInt64, _ capacity: Int) -> Int {
      // The top bits choose the shard, so the rest is spread again for the place within it.
      Int((key &* 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: UInt64(capacity)).high)
    }

    func find(_ key: UInt64) -> Entry? {
      guard !slots.isEmpty else { return nil }
      var place = Self.place(key, slots.count)
      while slots[place] != 0 {
        if slots[place] | 1 == key { return slots[place] & 1 == 1 ? .directory : .other }
        place = place + 1 == slots.count ? 0 : place + 1
      }
      return nil
    }

    mutating func set(_ key: UInt64, _ entry: Entry) {
      if (count + 1) * 8 > slots.count * 7 { grow() }
      let value = entry == .directory ? key : key & ~1
      var place = Self.place(key, slots.count)
      while slots[place] != 0 {
        if slots[place] | 1 == key {
          slots[place] = value
          return
        }
        place = place + 1 == slots.count ? 0 : place + 1
      }
      slots[place] = value
      count += 1
    }

    private mutating func grow() {
      let old = slots
      slots = [UInt64](repeating: 0, count: max(16, old.count * 3 / 2))
      for value in old where value != 0 {
        var place = Self.place(value | 1, slots.count)
        while slots[place] != 0 { place = place + 1 == slots.count ? 0 : place + 1 }
        slots[place] = value
      }
    }
  }

  private var shards = [Shard](repeating: Shard(), count: shardCount)
  /// Paths in the table.
  private(set) var count = 0

  /// What is known of the path with this XXH3-64.
  func find(_ hash: UInt64) -> Entry? { shards[Int(hash >> 58)].find(Self.key(hash)) }

  /// Adds or changes a path.
  mutating func set(_ hash: UInt64, _ entry: Entry) {
    let shard = Int(hash >> 58)
    count -= shards[shard].count
    shards[shard].set(Self.key(hash), entry)
    count += shards[shard].count
  }

  /// The lowest bit tells the kind; 0 and 1 are kept for "no entry".
  private static func key(_ hash: UInt64) -> UInt64 { hash < 2 ? 3 : hash | 1 }
}
