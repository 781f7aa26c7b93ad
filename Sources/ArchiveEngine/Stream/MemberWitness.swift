internal import ArchiveFormat

/// What is remembered of a member that came by, until the index page that describes it comes.
enum MemberWitness {
  /// All of it, so that a difference can be told with both values.
  case whole(IndexedMember)
  /// A hash over its metadata, where whole members would take too much memory.
  case digest(Hash128, headerByteCount: UInt64, contentHash: Hash128?)

  /// - Parameter budget: bytes of memory that whole members may still take; what this one takes is subtracted.
  init(_ member: IndexedMember, budget: inout Int) {
    let byteCount = member.member.memoryByteCount
    if byteCount <= budget {
      budget -= byteCount
      self = .whole(member)
    } else {
      self = .digest(
        member.member.digest, headerByteCount: member.headerByteCount, contentHash: member.contentHash)
    }
  }

  /// Compares with what the index states.
  ///
  /// - Parameter hashes: the content's hash is known.
  func compare(with stated: IndexedMember, hashes: Bool) throws(ArchiveError) {
    let path = stated.member.path
    let (header, content): (UInt64, Hash128?)
    switch self {
    case .digest(let digest, let headerByteCount, let contentHash):
      guard digest == stated.member.digest else {
        throw ArchiveError(.mismatch, "index and tar header differ", path: path)
      }
      (header, content) = (headerByteCount, contentHash)
    case .whole(let seen):
      if stated.member != seen.member {
        throw ArchiveError(
          .mismatch,
          "index and tar header differ: \(MemberDifference.describe(index: stated.member, tar: seen.member))",
          path: seen.member.path)
      }
      (header, content) = (seen.headerByteCount, seen.contentHash)
    }
    guard stated.headerByteCount == header else {
      throw ArchiveError(
        .mismatch, "header of \(header) bytes where the index states \(stated.headerByteCount)", path: path)
    }
    if hashes, let expected = stated.contentHash, let content {
      try MemberCheck.compare(content, with: expected, path: path)
    }
  }
}
