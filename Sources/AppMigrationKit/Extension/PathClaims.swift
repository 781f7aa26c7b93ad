internal import ArchiveIO

/// The paths that an export has used, so that what no import could unpack is an error at once: a second item of the same path, and an item below another that
/// is no directory.
///
/// Only 64 bits of a keyed hash are kept of each: among a million paths two differing ones meet with a chance of one in 37 million.
final class PathClaims: Sendable {
  private struct State {
    var taken: Set<Int> = []
    /// Those of them that are no directories.
    var leaves: Set<Int> = []
    /// How many paths lie below each.
    var parents: [Int: Int] = [:]
  }

  private let state = Locked(State())

  /// Takes a path.
  ///
  /// - Returns: why it cannot be taken, or nil.
  func claim(_ path: [UInt8]) -> String? {
    let (hash, above) = Self.hashes(path)
    return state.withLock { state in
      if state.taken.contains(hash) { return "the path in the archive is taken by another item" }
      if above.contains(where: state.leaves.contains) {
        return "the path in the archive lies below an item that is no directory"
      }
      state.taken.insert(hash)
      for parent in above { state.parents[parent, default: 0] += 1 }
      return nil
    }
  }

  /// Notes that a claimed path is no directory's.
  ///
  /// - Returns: why it cannot be, or nil.
  func settleAsLeaf(_ path: [UInt8]) -> String? {
    let hash = Self.hashes(path).own
    return state.withLock { state in
      if state.parents[hash] != nil { return "other items lie below the path in the archive, and this is no directory" }
      state.leaves.insert(hash)
      return nil
    }
  }

  /// A claimed path is free again.
  func release(_ path: [UInt8]) {
    let (hash, above) = Self.hashes(path)
    state.withLock { state in
      guard state.taken.remove(hash) != nil else { return }
      state.leaves.remove(hash)
      for parent in above {
        let count = (state.parents[parent] ?? 1) - 1
        state.parents[parent] = count == 0 ? nil : count
      }
    }
  }

  /// Hashes of a path and of the directories that it lies in.
  private static func hashes(_ path: [UInt8]) -> (own: Int, above: [Int]) {
    let above = path.indices.filter { path[$0] == 0x2F }.map { hash(path[..<$0]) }
    return (hash(path[...]), above)
  }

  private static func hash(_ path: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    unsafe path.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
