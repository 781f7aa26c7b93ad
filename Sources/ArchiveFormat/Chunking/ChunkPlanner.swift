/// Divides small members into groups, one a chunk, so that a boundary depends on its neighbourhood alone
/// (specification, "Where chunks begin").
///
/// With T the chunk size: a member is a boundary when its weight is the smallest of all that begin at most 3T/8
/// before and after it (of equal ones the first). That needs a look-ahead of 3T/8 behind a group of at most 3T/2.
/// Distances count at least T/8192 for a member, so that at most 15,360 members and the next are pending.
///
/// It knows numbers only: whoever adds members keeps them, and learns how many of the first belong together.
public struct ChunkPlanner: Sendable {
  /// Target size of a chunk in tar bytes.
  public let chunkByteCount: Int

  /// A member that has not been emitted.
  private struct Pending {
    var position: Int
    var weight: UInt64
  }

  private var pending: [Pending] = []
  /// Number, in the run, of the first pending member.
  private var base = 0
  /// Where the next member begins, in the run since the last flush.
  private var end = 0
  /// Members that begin within the radius before the last one, weights ascending: those that could be the smallest.
  private var window = MinimumQueue()
  /// Numbers and positions of boundaries that have not been used.
  private var boundaries: [MinimumQueue.Entry] = []

  /// A planner for chunks of about `chunkByteCount` (at least 4096).
  public init(chunkByteCount: Int) { self.chunkByteCount = max(4096, chunkByteCount) }

  /// How far a boundary's weight has to be the smallest. Chosen by experiment: with T/2 every ninth boundary has to be
  /// forced and edits beside those spread; with 3T/8 groups have 0.7 T on average and few are forced.
  private var radius: Int { chunkByteCount / 8 * 3 }
  /// The longest group.
  private var longest: Int { chunkByteCount / 2 * 3 }

  /// Bytes from which on a file is large: it does not go through ``add(nameHash:tarByteCount:into:)``.
  public var largeByteCount: Int { chunkByteCount / 2 }

  /// Members that are neither emitted nor flushed.
  public var pendingCount: Int { pending.count }

  /// Adds the next member (`nameHash`: XXH3-64 of its path; `tarByteCount`: header and padded data) and appends, for each
  /// group that is known to be closed by it, how many members it has.
  public mutating func add(nameHash: UInt64, tarByteCount: Int, into counts: inout [Int]) {
    let position = end
    let isFirst = window.insert(index: base + pending.count, position: position, weight: nameHash)
    if isFirst, position <= radius { window.ruleOutLast() }
    pending.append(Pending(position: position, weight: nameHash))
    end += min(max(tarByteCount, chunkByteCount / 8192, 1), 1 << 40)
    expire(before: end)
    settle(isFinal: false, into: &counts)
  }

  /// A boundary that comes from outside, as before a large file or at the end: closes what is pending.
  public mutating func flush(into counts: inout [Int]) {
    settle(isFinal: true, into: &counts)
    if !pending.isEmpty { emit(pending.count, into: &counts) }
    base = 0
    end = 0
    window = MinimumQueue()
    boundaries.removeAll(keepingCapacity: true)
  }

  /// Finds boundaries: members that left the window as its smallest have nothing smaller behind them.
  private mutating func expire(before position: Int) {
    while let entry = window.removeFirst(before: position - radius) {
      if entry.isBoundary { boundaries.append(entry) }
    }
  }

  /// Emits the groups whose ends are known.
  private mutating func settle(isFinal: Bool, into counts: inout [Int]) {
    while !pending.isEmpty {
      let start = pending[0].position
      if let boundary = boundaries.first, boundary.position - start <= longest {
        boundaries.removeFirst()
        if boundary.index > base { emit(boundary.index - base, into: &counts) }
      } else if end - start > longest + (isFinal || !boundaries.isEmpty ? 0 : radius) {
        let count = forcedCount(start)
        guard count < pending.count else { return }
        emit(count, into: &counts)
      } else {
        return
      }
    }
  }

  /// Members before a boundary that is needed because none came for 3T/2: before the one with the smallest weight
  /// between T/2 and T, or, if none begins there, before the last that keeps the group within 3T/2.
  private func forcedCount(_ start: Int) -> Int {
    var best: Int?
    var last = 1
    for index in 1..<max(1, pending.count) {
      let distance = pending[index].position - start
      if distance > longest { break }
      last = index
      guard distance >= chunkByteCount / 2, distance <= chunkByteCount else { continue }
      if let found = best, pending[found].weight <= pending[index].weight { continue }
      best = index
    }
    return best ?? last
  }

  private mutating func emit(_ count: Int, into counts: inout [Int]) {
    counts.append(count)
    pending.removeFirst(count)
    base += count
  }
}

/// The smallest weight of a sliding window: entries whose weights ascend, each smaller than all that came after it.
private struct MinimumQueue: Sendable {
  struct Entry: Sendable {
    var index: Int
    var position: Int
    var weight: UInt64
    /// Nothing in the window before it was smaller or equal.
    var isBoundary: Bool
  }

  private var entries: [Entry] = []
  private var head = 0

  /// Adds an entry, which removes all with a greater weight; true when nothing was left before it.
  mutating func insert(index: Int, position: Int, weight: UInt64) -> Bool {
    while entries.count > head, let last = entries.last, last.weight > weight { entries.removeLast() }
    let isFirst = entries.count == head
    entries.append(Entry(index: index, position: position, weight: weight, isBoundary: isFirst))
    return isFirst
  }

  /// The last entry is no boundary, whatever comes.
  mutating func ruleOutLast() { if !entries.isEmpty { entries[entries.count - 1].isBoundary = false } }

  /// Takes the first entry if it begins before `position`.
  mutating func removeFirst(before position: Int) -> Entry? {
    guard head < entries.count, entries[head].position < position else { return nil }
    let entry = entries[head]
    head += 1
    if head > 1024, head * 2 > entries.count {
      entries.removeFirst(head)
      head = 0
    }
    return entry
  }
}
