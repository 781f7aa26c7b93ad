internal import ArchiveFormat

/// What a walk tells of the archive to come.
struct PlannedTotals: Sendable {
  var entryCount: UInt64 = 0
  var fileCount: UInt64 = 0
  var contentByteCount: UInt64 = 0
  var storedByteCount: UInt64 = 0
  var tarByteCount: UInt64 = 0
  var chunkCount: UInt64 = 0
  /// Groups of small members, each with a page of its own, and their members.
  var groupCount: UInt64 = 0
  var groupMemberCount: UInt64 = 0
  /// Bytes of the pages of large files, nearly exact.
  var largePageByteCount: UInt64 = 0
  /// Bytes that the directory and the seek table have for all chunks and pages, nearly exact.
  var tableByteCount: UInt64 = 0

  mutating func add(_ chunk: PlannedChunk) {
    chunkCount += 1
    tarByteCount += UInt64(chunk.tarByteCount)
    switch chunk {
    case .group(let members):
      groupCount += 1
      groupMemberCount += UInt64(members.count)
      tableByteCount += UInt64(Self.tableByteCount(chunkCount: 1, memberCount: members.count))
      for index in members.indices { add(members[index].member) }
    case .piece(let piece):
      tableByteCount += UInt64(Self.chunkRowByteCount)
      largePageByteCount += UInt64(Self.chunkRecordByteCount)
      if piece.isLast {
        add(piece.file.member)
        largePageByteCount += UInt64(Self.largePageByteCount + piece.file.member.path.count)
        tableByteCount += UInt64(Self.tableByteCount(chunkCount: 0, memberCount: 1))
      }
    }
  }

  private mutating func add(_ member: Member) {
    entryCount += 1
    guard member.kind == .file else { return }
    fileCount += 1
    contentByteCount.add(clamping: member.byteCount)
    storedByteCount.add(clamping: member.storedByteCount)
  }

  /// A page of one large file beside its path and chunks: framing, owner, times, sizes and the content's hash.
  private static let largePageByteCount = 90
  /// A chunk's two sizes and hash in a page.
  private static let chunkRecordByteCount = 15
  /// A chunk's two sizes in the seek table.
  private static let chunkRowByteCount = 8

  /// Rows of a page in directory and seek table: sizes, counts and hash, and the filter of the names.
  private static func tableByteCount(chunkCount: Int, memberCount: Int) -> Int {
    8 + 24 + NameFilter.byteCount(memberCount: memberCount) + chunkCount * chunkRowByteCount
  }
}

/// What opening single files corrects of it.
struct Corrections: Sendable {
  var leftOutCount: UInt64 = 0
  /// Logical bytes of the files that are left out.
  var leftOutByteCount: UInt64 = 0
  var holeByteCount: UInt64 = 0
  /// What the tar stream grows by.
  var tarByteCount: Int64 = 0

  mutating func add(_ other: Corrections) {
    leftOutCount += other.leftOutCount
    leftOutByteCount.add(clamping: other.leftOutByteCount)
    holeByteCount += other.holeByteCount
    tarByteCount += other.tarByteCount
  }
}
