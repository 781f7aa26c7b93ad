internal import ArchiveFormat

/// Small members that wait until it is known with which others they make a chunk.
struct MemberGroups {
  private var planner: ChunkPlanner
  private var pending: [PendingMember] = []
  private var counts: [Int] = []
  /// Groups that are whole.
  private var ready: [[PendingMember]] = []

  init(chunkByteCount: Int) { planner = ChunkPlanner(chunkByteCount: chunkByteCount) }

  /// Stored size from which on a file gets chunks of its own.
  var largeByteCount: Int { planner.largeByteCount }

  /// Adds the next member.
  mutating func add(_ member: PendingMember) {
    pending.append(member)
    planner.add(
      nameHash: XXH3.hash64(member.member.path.span), tarByteCount: member.plannedByteCount, into: &counts)
    if !counts.isEmpty { cut() }
  }

  /// Ends the group in the making.
  mutating func flush() {
    planner.flush(into: &counts)
    cut()
  }

  /// The groups that are whole, which are given out once.
  mutating func takeReady() -> [[PendingMember]] {
    if ready.isEmpty { return [] }
    defer { ready = [] }
    return ready
  }

  /// Lets `body` change the members that are pending, from the last one back to the first for which it gives nil.
  /// Their weights and sizes stay as planned.
  mutating func updateLast<Failure: Error>(
    _ body: (PendingMember) throws(Failure) -> PendingMember?
  ) throws(Failure) {
    for index in pending.indices.reversed() {
      guard let member = try body(pending[index]) else { return }
      pending[index] = member
    }
  }

  private mutating func cut() {
    for count in counts {
      // The few that stay are copied, not the group.
      var group = pending
      pending = Array(group[count...])
      group.removeLast(group.count - count)
      ready.append(group)
    }
    counts.removeAll(keepingCapacity: true)
  }
}
