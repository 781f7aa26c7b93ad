internal import ArchiveFormat

/// The part of a member that lies in one chunk, with what shall be done with it.
struct MemberPart<Action: Sendable>: Sendable {
  let member: IndexedMember
  /// Bytes of the member's headers in the chunk's content.
  let headerRange: Range<Int>
  /// Bytes of its stored data in the chunk's content, without padding.
  let dataRange: Range<Int>
  /// Where in the stored data the part begins.
  let dataOffset: UInt64
  /// Shared by the parts of a member that lies in several chunks; nil for a member that lies in this one.
  let spanning: SpanningMember?
  /// Number of this part among the member's parts.
  let index: Int
  let action: Action
  /// The member ends with this part.
  let endsMember: Bool
}

/// One chunk to be read, with the members in it that are wanted.
struct ChunkTask<Action: Sendable>: Sendable {
  /// Number of the chunk in the archive.
  let number: UInt64
  /// File offset of its frame.
  let offset: UInt64
  let record: ChunkRecord
  /// Offset in the tar stream of its first content byte.
  let tarOffset: UInt64
  let parts: [MemberPart<Action>]
  let isEnd: Bool
}

/// Goes through the index in order and says for every chunk which parts of which members it holds.
///
/// A member's record is in the page in which it ends; for one that begins earlier that page is looked up when the member begins.
struct ChunkPlanReader<Action: Sendable> {
  private struct Open {
    let member: IndexedMember
    let action: Action?
    let spanning: SpanningMember
    /// Bytes of the member, header included, before the next chunk.
    var position: UInt64
    var index: Int
  }

  private let archive: IndexedArchive
  private let codec: PageCodec
  private var pages: PageIterator
  private var open: Open?
  private var chunkNumber: UInt64 = 0
  private var tarOffset: UInt64 = 0
  /// What the directory and the root have to say of the page that was planned last, for whoever recomputes them and asked for it.
  private(set) var lastSummary: PageSummary?
  private let summarizes: Bool
  /// Where pages come from, when lanes decode them.
  private let ahead: PageAhead?

  init(_ archive: IndexedArchive, summarizes: Bool = false, ahead: PageAhead? = nil) {
    self.archive = archive
    self.summarizes = summarizes
    self.ahead = ahead
    codec = archive.makeCodec()
    pages = PageIterator(archive)
  }

  private mutating func read(_ location: IndexedArchive.PageLocation) throws(ArchiveError) -> IndexPage {
    if let decoded = try ahead?.page(location) {
      underWayByteCount += decoded.memoryByteCount
      lastSummary = decoded.summary
      return decoded.page
    }
    let (page, frame) = try archive.pageAndFrame(location, codec: codec)
    underWayByteCount += codec.lastMemoryByteCount
    if summarizes {
      lastSummary = try format { () throws(FormatError) in try PageSummary(page: page, frame: frame.span) }
    }
    return page
  }

  /// Bytes that the members of pages take whose tasks may still be under way.
  private var underWayByteCount = 0

  /// Whether so much is under way that the tasks have to end before the next page is planned; the caller then sees to that.
  mutating func mustSettle() -> Bool {
    guard underWayByteCount > archive.pageMemoryByteCount / 2 else { return false }
    underWayByteCount = 0
    return true
  }

  /// The tasks of the next page; nil at the end.
  ///
  /// - Parameter decide: called once for each member, in archive order, with whether it lies in several chunks; nil leaves the member out.
  mutating func nextPage(
    decide: (IndexedMember, _ spans: Bool) throws(ArchiveError) -> Action?
  ) throws(ArchiveError) -> [ChunkTask<Action>]? {
    guard let location = try pages.nextLocation() else { return nil }
    let page = try read(location)
    guard page.openByteCount == (open?.position ?? 0) else {
      throw ArchiveError(
        .mismatch, "index page \(location.number) does not continue the page before it", offset: location.pageOffset)
    }
    let offsets = archive.chunkOffsets(location, page)
    var tasks: [ChunkTask<Action>] = []
    tasks.reserveCapacity(page.chunks.count)
    var memberIndex = 0
    for (index, chunk) in page.chunks.enumerated() {
      let size = Int(chunk.contentByteCount)
      guard size <= archive.maximumChunkContentByteCount else {
        throw ArchiveError(
          .limitExceeded, "chunk \(chunkNumber) holds \(size) bytes, more than the archive's chunk size allows",
          offset: offsets[index])
      }
      var parts: [MemberPart<Action>] = []
      var cursor = 0
      while cursor < size, !page.isEnd {
        if open == nil {
          let member: IndexedMember
          if memberIndex < page.members.count {
            member = page.members[memberIndex]
          } else {
            member = try findOpenMember(after: location)
          }
          let isWhole = member.tarByteCount <= UInt64(size - cursor)
          let action = try decide(member, !isWhole)
          if isWhole {
            // The common case: the member lies in this chunk.
            memberIndex += 1
            let header = Int(member.headerByteCount)
            if let action {
              parts.append(
                MemberPart(
                  member: member, headerRange: cursor..<cursor + header,
                  dataRange: cursor + header..<cursor + header + Int(member.dataByteCount), dataOffset: 0,
                  spanning: nil, index: 0, action: action, endsMember: true))
            }
            cursor += Int(member.tarByteCount)
            continue
          }
          open = Open(
            member: member, action: action, spanning: try SpanningMember(member), position: 0, index: 0)
        }
        guard var current = open else { break }
        let total = current.member.tarByteCount
        let count = Int(min(total - current.position, UInt64(size - cursor)))
        if let part = part(of: current, at: cursor, count: count) { parts.append(part) }
        current.position += UInt64(count)
        current.index += 1
        cursor += count
        if current.position == total {
          open = nil
          memberIndex += 1
        } else {
          open = current
        }
      }
      tasks.append(
        ChunkTask(
          number: chunkNumber, offset: offsets[index], record: chunk, tarOffset: tarOffset, parts: parts,
          isEnd: page.isEnd))
      chunkNumber += 1
      tarOffset += UInt64(size)
    }
    guard memberIndex == page.members.count else {
      throw ArchiveError(
        .mismatch, "the members of index page \(location.number) do not fill its chunks", offset: location.pageOffset)
    }
    return tasks
  }

  private func part(of open: Open, at cursor: Int, count: Int) -> MemberPart<Action>? {
    guard let action = open.action else { return nil }
    let member = open.member
    let header = Int(min(UInt64(count), member.headerByteCount - min(open.position, member.headerByteCount)))
    let dataOffset = max(open.position, member.headerByteCount) - member.headerByteCount
    let data = Int(min(UInt64(count - header), member.dataByteCount - min(dataOffset, member.dataByteCount)))
    return MemberPart(
      member: member, headerRange: cursor..<cursor + header, dataRange: cursor + header..<cursor + header + data,
      dataOffset: min(dataOffset, member.dataByteCount), spanning: open.spanning, index: open.index, action: action,
      endsMember: open.position + UInt64(count) == member.tarByteCount)
  }

  /// The record of the member that is open at the end of a page: the first of the next page that has one.
  private func findOpenMember(after location: IndexedArchive.PageLocation) throws(ArchiveError) -> IndexedMember {
    guard let ending = try pages.lookAhead({ $0.descriptor.memberCount > 0 }) else {
      throw ArchiveError(.mismatch, "the index lacks the record of the last member", offset: location.pageOffset)
    }
    return try archive.page(ending, codec: codec).members[0]
  }
}
