internal import ArchiveFormat

/// A chunk as the planner of a writer decides it, before anything of it is read.
enum PlannedChunk: Sendable {
  /// Small members.
  case group([PendingMember])
  /// A part of a large file.
  case piece(PlannedPiece)

  /// Members whose headers lie in it.
  var memberCount: Int {
    switch self {
    case .group(let members): members.count
    case .piece(let piece): piece.headerByteCount > 0 ? 1 : 0
    }
  }

  /// Bytes of the tar stream in it, as far as the walk tells: attributes and long link targets are not known.
  var tarByteCount: Int {
    switch self {
    case .group(let members):
      var sum = 0
      for index in members.indices { sum += members[index].plannedByteCount }
      return sum
    case .piece(let piece): return piece.headerByteCount + piece.dataByteCount
    }
  }
}

/// One piece of a large file; it names its file rather than holding it open, since thousands may be kept.
struct PlannedPiece: Sendable {
  let file: PendingMember
  /// Bytes of the member's header, which the first piece begins with; 0 in the others.
  let headerByteCount: Int
  /// Stored bytes of the file.
  let range: Range<UInt64>
  let isLast: Bool

  /// Content, with the padding behind the last byte.
  var dataByteCount: Int {
    let count = Int(range.upperBound - range.lowerBound)
    return isLast ? (count + 511) & ~511 : count
  }
}

extension PendingMember {
  /// Stored data with the padding behind them.
  var paddedByteCount: Int { member.kind == .file ? (Int(member.storedByteCount) + 511) & ~511 : 0 }
}
