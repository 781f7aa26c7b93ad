internal import ArchiveFormat
internal import ArchiveIO

/// Finds one member by its name: the directories' filters say which pages may hold it, and only those are read.
struct MemberLookup {
  private let archive: IndexedArchive
  private let codec: PageCodec

  /// A member and where it is described.
  struct Found {
    let member: IndexedMember
    /// Offset of its header relative to the page's first content byte; negative when it begins in an earlier page.
    let headerOffset: Int64
    let location: IndexedArchive.PageLocation
    let page: IndexPage
  }

  init(_ archive: IndexedArchive) {
    self.archive = archive
    codec = archive.makeCodec()
  }

  /// The last member of that name that is not incomplete, or else the incomplete one.
  func find(_ path: [UInt8]) throws(ArchiveError) -> Found? {
    let hash = NameFilter.hash(path.span)
    var position = IndexedArchive.start
    var result: Found?
    for index in archive.root.directories.indices {
      let (directory, locations) = try archive.directory(index, startingAt: position)
      for candidate in directory.candidates(nameHash: hash) {
        let location = locations[candidate]
        let page = try archive.page(location, codec: codec)
        let offsets = page.headerOffsets
        for (member, offset) in zip(page.members, offsets) where member.member.path == path {
          if member.isIncomplete, result != nil { continue }
          result = Found(member: member, headerOffset: offset, location: location, page: page)
        }
      }
      if let last = locations.last {
        position = PagePosition(
          number: last.number + 1, offset: last.pageOffset + UInt64(last.descriptor.storedByteCount))
      }
    }
    return result
  }

  /// One chunk that holds a part of a member.
  struct ChunkPlace {
    let number: UInt64
    let offset: UInt64
    let record: ChunkRecord
    /// Where the chunk's content begins, relative to the member's header.
    let memberOffset: Int64
  }

  /// The chunks that hold a member, in order. Pages before the one that describes it are gone through when it begins there.
  func chunks(of found: Found) throws(ArchiveError) -> [ChunkPlace] {
    var pages: [(IndexedArchive.PageLocation, IndexPage)] = [(found.location, found.page)]
    if found.headerOffset < 0 {
      var missing = UInt64(-found.headerOffset)
      var earlier: [IndexedArchive.PageLocation] = []
      var iterator = PageIterator(archive)
      while let location = try iterator.nextLocation(), location.number < found.location.number {
        earlier.append(location)
        // Only the run of pages directly before matters.
        if earlier.count > 1, location.descriptor.openByteCount == 0 { earlier.removeFirst(earlier.count - 1) }
      }
      var before: [(IndexedArchive.PageLocation, IndexPage)] = []
      while missing > 0, let location = earlier.popLast() {
        before.append((location, try archive.page(location, codec: codec)))
        missing -= min(missing, location.descriptor.contentByteCount)
      }
      guard missing == 0 else {
        throw ArchiveError(.mismatch, "the member begins before the archive does", path: found.member.member.path)
      }
      pages = before.reversed() + pages
    }
    var places: [ChunkPlace] = []
    // Content offset, relative to the member's header, of the first page's first byte.
    var position = -found.headerOffset
    for (_, page) in pages.dropLast() { position -= Int64(page.contentByteCount) }
    for (location, page) in pages {
      for (chunk, offset) in zip(page.chunks, archive.chunkOffsets(location, page)) {
        let end = position + Int64(chunk.contentByteCount)
        if end > 0, position < Int64(found.member.tarByteCount) {
          places.append(
            ChunkPlace(number: UInt64(places.count), offset: offset, record: chunk, memberOffset: position))
        }
        position = end
      }
    }
    return places
  }
}
