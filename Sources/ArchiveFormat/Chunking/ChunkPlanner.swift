/// Divides small members into groups, one a chunk, so that a boundary depends on its neighbourhood alone
/// (specification, "Where chunks begin").
public struct ChunkPlanner<Payload: Sendable>: Sendable {
  /// Target size of a chunk in tar bytes.
  public let chunkByteCount: Int

  /// A planner for chunks of about `chunkByteCount` (at least 4096).
  public init(chunkByteCount: Int) { self.chunkByteCount = chunkByteCount }

  /// Bytes from which on a file is large: it does not go through ``add(nameHash:tarByteCount:payload:into:)``.
  public var largeByteCount: Int { chunkByteCount / 2 }

  /// Adds the next member (`nameHash`: XXH3-64 of its path; `tarByteCount`: header and padded data) and appends the
  /// groups that are known to be closed by it.
  public mutating func add(nameHash: UInt64, tarByteCount: Int, payload: Payload, into groups: inout [[Payload]]) {}

  /// A boundary that comes from outside, as before a large file or at the end: closes what is pending.
  public mutating func flush(into groups: inout [[Payload]]) {}
}
