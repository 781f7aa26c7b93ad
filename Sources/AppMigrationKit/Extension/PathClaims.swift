internal import ArchiveIO

/// The paths that an export has used, so that a second use is an error at once and not only when the system looks at it.
///
/// Only 64 bits of a keyed hash are kept of each: among a million paths two differing ones meet with a chance of one in 37 million.
final class PathClaims: Sendable {
  private let taken = Locked<Set<Int>>([])

  /// False when the path is taken.
  func claim(_ path: [UInt8]) -> Bool {
    let hash = Self.hash(path)
    return taken.withLock { $0.insert(hash).inserted }
  }

  /// The path is free again.
  func release(_ path: [UInt8]) {
    let hash = Self.hash(path)
    taken.withLock { _ = $0.remove(hash) }
  }

  private static func hash(_ path: [UInt8]) -> Int {
    var hasher = Hasher()
    unsafe path.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}
