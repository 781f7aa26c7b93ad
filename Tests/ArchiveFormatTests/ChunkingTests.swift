import ArchiveFormat
import Testing

@Suite struct ChunkingTests {
  struct Entry: Hashable, Sendable {
    var hash: UInt64
    var byteCount: Int
  }

  static let chunk = 1 << 20

  static func groups(_ entries: [Entry], chunk: Int = Self.chunk) -> [[Entry]] {
    groups(of: [entries], chunk: chunk)
  }

  /// Each part ends with a flush.
  static func groups(of parts: [[Entry]], chunk: Int) -> [[Entry]] {
    var planner = ChunkPlanner(chunkByteCount: chunk)
    var counts: [Int] = []
    for part in parts {
      for entry in part { planner.add(nameHash: entry.hash, tarByteCount: entry.byteCount, into: &counts) }
      planner.flush(into: &counts)
    }
    var rest = parts.flatMap { $0 }[...]
    var groups: [[Entry]] = []
    for count in counts {
      groups.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    #expect(rest.isEmpty)
    return groups
  }

  /// Sizes of files as they are in source trees: many small, few large; always less than half a chunk.
  static func size(_ random: inout SeededGenerator) -> Int {
    let data = Int(1 << UInt64(random.below(17))) + random.below(12_000)
    return 512 + (min(data, chunk / 2 - 1) + 511) & ~511
  }

  static func tree(_ seed: UInt64, _ count: Int) -> [Entry] {
    var random = SeededGenerator(seed)
    return (0..<count).map { _ in Entry(hash: random.next(), byteCount: size(&random)) }
  }

  static func bytes(_ group: [Entry]) -> Int { group.reduce(0) { $0 + $1.byteCount } }

  @Test func nothingIsLostAndSizesAreBounded() {
    var (total, count) = (0, 0)
    for seed in 0..<20 as Range<UInt64> {
      let entries = Self.tree(seed, 4000)
      let groups = Self.groups(entries)
      #expect(groups.flatMap { $0 } == entries, "seed \(seed)")
      #expect(groups.allSatisfy { !$0.isEmpty && Self.bytes($0) <= Self.chunk / 2 * 3 }, "seed \(seed)")
      // Nothing is known of what stood before a run, so no boundary is found near its beginning.
      #expect(Self.bytes(groups[0]) > Self.chunk / 8 * 3, "seed \(seed)")
      let small = groups.dropLast().count { Self.bytes($0) < Self.chunk / 8 * 3 }
      #expect(small * 20 <= groups.count, "seed \(seed): \(small) of \(groups.count) below 3T/8")
      total += groups.reduce(0) { $0 + Self.bytes($1) }
      count += groups.count
    }
    let mean = Double(total) / Double(count) / Double(Self.chunk)
    print("mean chunk: \(mean) T")
    #expect(mean > 0.6 && mean < 0.85)
  }

  /// Of members with the same smallest weight the first is the boundary: a repeated name begins no chunk of its own.
  @Test func theFirstOfEqualWeightsCounts() {
    for seed in 0..<20 as Range<UInt64> {
      var random = SeededGenerator(seed)
      // So many members fill half a chunk, and two that are near each other have the smallest weight.
      let count = 600
      var entries = (0..<count).map { _ in Entry(hash: 1000 + random.next() >> 1, byteCount: Self.chunk / 512) }
      let (first, distance) = (260 + random.below(20), 1 + random.below(100))
      entries[first].hash = 7
      entries[first + distance].hash = 7
      let starts = Self.groups(entries).reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
      #expect(starts.contains(first) && !starts.contains(first + distance), "seed \(seed)")
    }
  }

  @Test func extremeSizesStayWithinBounds() {
    for seed in 0..<200 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let largest = [512, 4096, Self.chunk / 2 + 1024][random.below(3)]
      let hashes = random.below(3)
      let entries = (0..<1500).map { index in
        let hash = hashes == 0 ? 0 : hashes == 1 ? UInt64(index) : UInt64(10_000 - index)
        return Entry(hash: random.chance(2) ? hash : random.next(), byteCount: 512 + random.below(largest))
      }
      let groups = Self.groups(entries)
      #expect(groups.flatMap { $0 } == entries)
      #expect(groups.allSatisfy { Self.bytes($0) <= Self.chunk / 2 * 3 }, "seed \(seed)")
    }
  }

  @Test func lookAheadIsBounded() {
    var planner = ChunkPlanner(chunkByteCount: 32 << 20)
    var counts: [Int] = []
    var most = 0
    for index in 0..<100_000 {
      // Ascending weights: no boundary of its own.
      planner.add(nameHash: UInt64(index), tarByteCount: 512, into: &counts)
      most = max(most, planner.pendingCount)
    }
    #expect(most <= 16_385)
    planner.flush(into: &counts)
    #expect(counts.reduce(0, +) == 100_000)
    #expect(planner.pendingCount == 0)
  }

  @Test func flushIsABoundaryWithoutMemory() {
    let (left, right) = (Self.tree(1, 900), Self.tree(2, 900))
    let groups = Self.groups(of: [left, right], chunk: Self.chunk)
    #expect(groups == Self.groups(left) + Self.groups(right))
  }

  /// Groups of the tree before an edit that are not groups of the tree after it.
  static func lost(_ before: [[Entry]], _ after: [[Entry]]) -> Int {
    let kept = Set(after)
    return before.count { !kept.contains($0) }
  }

  /// A boundary that had to be forced depends on the next natural one, so that a third group is lost now and then.
  @Test func anEditChangesTheGroupsBesideItOnly() {
    var histogram: [Int: Int] = [:]
    for seed in 0..<2000 as Range<UInt64> {
      var random = SeededGenerator(seed &* 977 &+ 5)
      let entries = Self.tree(seed / 100, 1500)
      var changed = entries
      let place = random.below(entries.count)
      switch random.below(3) {
      case 0: changed.insert(Entry(hash: random.next(), byteCount: Self.size(&random)), at: place)
      case 1: changed.remove(at: place)
      default: changed[place].byteCount = Self.size(&random)
      }
      histogram[Self.lost(Self.groups(entries), Self.groups(changed)), default: 0] += 1
    }
    print("groups lost by an edit: \(histogram.sorted { $0.key < $1.key })")
    #expect((histogram[0] ?? 0) + (histogram[1] ?? 0) + (histogram[2] ?? 0) >= 1980)
    #expect((histogram.keys.max() ?? 0) <= 4)
  }

  @Test func removalOfABoundaryMergesTheGroupsBesideIt() {
    var histogram: [Int: Int] = [:]
    for seed in 0..<500 as Range<UInt64> {
      var random = SeededGenerator(seed &* 31 &+ 7)
      let entries = Self.tree(seed / 25, 1500)
      let before = Self.groups(entries)
      var changed = entries
      let group = 1 + random.below(before.count - 1)
      changed.remove(at: before[..<group].reduce(0) { $0 + $1.count })
      histogram[Self.lost(before, Self.groups(changed)), default: 0] += 1
    }
    print("groups lost with a boundary: \(histogram.sorted { $0.key < $1.key })")
    #expect((histogram[1] ?? 0) + (histogram[2] ?? 0) >= 400)
    #expect((histogram.keys.max() ?? 0) <= 5)
  }
}
