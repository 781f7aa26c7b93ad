internal import ArchiveFormat

/// Items of an archive that were captured only in part when it was made and must not arrive.
package struct WithdrawnItems: Sendable, Equatable {
  /// Paths below which nothing may arrive; themselves included.
  package var prefixes: [[UInt8]]
  /// XXH3-64 of the archive paths of single members.
  package var hashes: Set<UInt64>

  /// Makes a set of items.
  package init(prefixes: [[UInt8]] = [], hashes: Set<UInt64> = []) {
    self.prefixes = prefixes
    self.hashes = hashes
  }

  /// Whether nothing is withdrawn.
  package var isEmpty: Bool { prefixes.isEmpty && hashes.isEmpty }

  func hasPrefix(of path: [UInt8]) -> Bool {
    prefixes.contains { path.starts(with: $0) && (path.count == $0.count || path[$0.count] == 0x2F) }
  }

  /// The hash of an archive path, as it stands in ``hashes``.
  package static func hash(of path: [UInt8]) -> UInt64 { XXH3.hash64(path.span) }

  func hasHash(of path: [UInt8]) -> Bool { !hashes.isEmpty && hashes.contains(Self.hash(of: path)) }
}
