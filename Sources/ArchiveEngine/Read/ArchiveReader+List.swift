internal import ArchiveFormat
internal import ArchiveIO

extension ArchiveReader {
  /// Calls `body` for every member that is selected, in archive order. With an index only that is read: the index is trusted, after its hashes were checked.
  ///
  /// - Parameters:
  ///   - selection: paths or directory prefixes; empty is all. One that matches nothing is an error (`notFound`) after all others were listed.
  ///   - body: takes the members; what it throws ends the list.
  public func list(
    selection: [[UInt8]] = [], _ body: (ListedMember) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let stop = begin()
    let wanted = MemberSelection(selection)
    var matched: Set<Int> = []
    if let archive = try indexOrNil() {
      var account = LimitAccount(limits)
      try forEachPage(of: archive, stop) { page throws(ArchiveError) in
        var chunks = ChunkCounter(page)
        let members = page.members.span
        for index in members.indices {
          let byteCount = members[index].member.byteCount
          try account.add(
            members[index].member.path, contentByteCount: byteCount, archiveByteCount: archive.file.byteCount)
          let count = chunks.next(members[index].tarByteCount)
          if !wanted.isEverything {
            guard let index = wanted.match(members[index].member.path) else { continue }
            matched.insert(index)
          }
          try body(
            ListedMember(
              member: members[index].member, contentHash: members[index].contentHash,
              isIncomplete: members[index].isIncomplete, chunkCount: count))
        }
      }
    } else {
      try withoutActuallyEscaping(body) { body throws(ArchiveError) in
        let pool = try makeStreamPool(stop)
        let visitor = ListVisitor(
          limits: limits, pool: pool, selection: wanted, warn: { self.warn($0, $1) }, body: body)
        _ = try runStream(visitor, pool: pool, stop: stop, isLenient: true, checksHashes: false)
        matched = visitor.matched
      }
    }
    if let first = wanted.unmatched(matched).first {
      throw ArchiveError(.notFound, "is not in the archive", path: first)
    }
  }

  /// Gives all pages in order. Where there are several, lanes decode them while `body` has those before.
  private func forEachPage(
    of archive: IndexedArchive, _ stop: StopSignal, _ body: (IndexPage) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    // Two lanes: beside them the caller is busy. More were not tried.
    let isParallel = archive.root.totals.pageCount > 2 && laneCount > 1
    let lanes = try LanePool<PageAhead.Item>(laneCount: isParallel ? 2 : 0, label: "archive-list") {
      _ throws(ArchiveError) in
      let codec = PageAhead.makeCodec(archive)
      return { $0.perform(archive, codec, stop: stop) }
    }
    defer { lanes.end() }
    let ahead = isParallel ? PageAhead(archive) { lanes.enqueue($0) } : nil
    let codec = archive.makeCodec()
    var pages = PageIterator(archive)
    while let location = try pages.nextLocation() {
      try stop.check()
      if let decoded = try ahead?.page(location) {
        try body(decoded.page)
      } else {
        try body(try archive.page(location, codec: codec))
      }
    }
  }

  /// What is known of the archive. Without an index all of it is read.
  public func info() throws(ArchiveError) -> ArchiveInfo {
    var info = ArchiveInfo()
    if let archive = try indexOrNil() {
      _ = begin()
      let root = archive.root
      info.formatVersion = Int(SkippableFrame.formatVersion)
      info.entryCount = root.totals.memberCount
      info.fileCount = root.totals.fileCount
      info.contentByteCount = root.totals.contentByteCount
      info.tarByteCount = root.totals.tarByteCount
      info.archiveByteCount = archive.file.byteCount
      info.chunkCount = root.totals.chunkCount
      info.chunkByteCount = UInt64(root.settings.chunkByteCount)
      info.level = Int(root.settings.level)
      info.isIndexed = true
      info.digest = archive.digest.hexadecimal
      info.manifest = (root.opening.pairs + root.closing.pairs).map { ($0.key, $0.value) }
      return info
    }
    let stop = begin()
    let pool = try makeStreamPool(stop)
    let visitor = ListVisitor(limits: limits, pool: pool, selection: MemberSelection([]), warn: { self.warn($0, $1) }) {
      _ in
    }
    let run = try runStream(visitor, pool: pool, stop: stop, isLenient: true, checksHashes: false)
    info.entryCount = run.memberCount
    info.fileCount = run.fileCount
    info.contentByteCount = run.contentByteCount
    info.tarByteCount = run.tarByteCount
    info.archiveByteCount = run.archiveByteCount
    info.chunkCount = run.frameCount
    if run.index.isComplete {
      info.formatVersion = Int(SkippableFrame.formatVersion)
      info.isIndexed = true
      info.digest = run.index.digest
      info.manifest = run.index.manifest
      info.level = run.index.settings.map { Int($0.level) }
      info.chunkByteCount = run.index.settings.map { UInt64($0.chunkByteCount) }
    }
    return info
  }

  /// Bytes of content that a run over the selection will go through, for progress; nil when it cannot be known beforehand.
  public func contentByteCount(selection: [[UInt8]] = []) throws(ArchiveError) -> (bytes: UInt64, members: UInt64)? {
    guard case .indexed(let archive) = input else { return nil }
    if selection.isEmpty { return (archive.root.totals.contentByteCount, archive.root.totals.memberCount) }
    var total: (bytes: UInt64, members: UInt64) = (0, 0)
    try list(selection: selection) { listed throws(ArchiveError) in
      total.bytes.add(clamping: listed.member.byteCount)
      total.members += 1
    }
    return total
  }
}

/// Says in how many chunks each member of a page lies.
private struct ChunkCounter {
  private let sizes: [UInt64]
  private var index = 0
  private var left: UInt64
  /// Of the first member, what lies before the page: it came in chunks of its own.
  private var open: UInt64

  init(_ page: IndexPage) {
    sizes = page.chunks.map { UInt64($0.contentByteCount) }
    left = sizes.first ?? 0
    open = page.openByteCount
  }

  /// - Parameter tarByteCount: all bytes of the next member.
  mutating func next(_ tarByteCount: UInt64) -> UInt64 {
    var rest = tarByteCount - min(open, tarByteCount)
    // Chunks before the page are not known here; the chunk size of those after it is a good measure.
    var count: UInt64 = open > 0 ? max(1, (open + (sizes.first ?? 1) - 1) / max(1, sizes.first ?? 1)) : 0
    open = 0
    while rest > 0 {
      if left == 0 {
        index += 1
        guard index < sizes.count else { break }
        left = sizes[index]
      }
      let taken = min(rest, left)
      rest -= taken
      left -= taken
      count += 1
    }
    return count
  }
}

/// Lists the members of a stream.
final class ListVisitor: StreamVisitor {
  private var account: LimitAccount
  private let pool: SlotPool<StreamSlot>
  private let selection: MemberSelection
  private let warn: ([UInt8], String) -> Void
  private let body: (ListedMember) throws(ArchiveError) -> Void
  private(set) var matched: Set<Int> = []

  init(
    limits: ReadLimits, pool: SlotPool<StreamSlot>, selection: MemberSelection,
    warn: @escaping ([UInt8], String) -> Void, body: @escaping (ListedMember) throws(ArchiveError) -> Void
  ) {
    account = LimitAccount(limits)
    self.pool = pool
    self.selection = selection
    self.warn = warn
    self.body = body
  }

  func begin(_ parsed: ParsedMember, fits: Bool, offset: UInt64) throws(ArchiveError) {
    try account.add(parsed.member.path, contentByteCount: parsed.member.byteCount, archiveByteCount: nil)
    if !selection.isEverything {
      guard let index = selection.match(parsed.member.path) else { return }
      matched.insert(index)
    }
    try body(ListedMember(member: parsed.member, contentHash: nil, isIncomplete: false, chunkCount: nil))
  }

  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) {}
  func end(_ member: ParsedMember) {}
  func reject(_ member: RejectedMember) { warn(member.path, "is refused: \(member.reason.message)") }
  func markIncomplete(_ paths: [[UInt8]]) {}
  func finish(_ piece: StreamPiece) { pool.release(piece.slot) }
}
