/// What a directory frame says of one page.
public struct PageDescriptor: Sendable, Equatable {
  /// Bytes of the page frame as stored.
  public var storedByteCount: UInt32
  /// Data frames of the page.
  public var chunkCount: UInt32
  /// Members whose records the page holds.
  public var memberCount: UInt32
  /// Sum of the stored sizes of the page's data frames (without the preamble that lies between those of page 0).
  public var framesStoredByteCount: UInt64
  /// Sum of the tar bytes of the page's data frames.
  public var contentByteCount: UInt64
  /// ``IndexPage/openByteCount`` of the page.
  public var openByteCount: UInt64
  /// XXH3-64 of the whole page frame as stored.
  public var pageHash: UInt64

  /// A descriptor from its parts.
  public init(
    storedByteCount: UInt32, chunkCount: UInt32, memberCount: UInt32, framesStoredByteCount: UInt64,
    contentByteCount: UInt64, openByteCount: UInt64, pageHash: UInt64
  ) {
    self.storedByteCount = storedByteCount
    self.chunkCount = chunkCount
    self.memberCount = memberCount
    self.framesStoredByteCount = framesStoredByteCount
    self.contentByteCount = contentByteCount
    self.openByteCount = openByteCount
    self.pageHash = pageHash
  }

  func validate() throws(FormatError) {
    let chunks = UInt64(chunkCount)
    let stored = UInt64(IndexLimits.chunkStoredByteCount)
    let content = UInt64(IndexLimits.chunkContentByteCount)
    guard (1...IndexLimits.pageFrameByteCount).contains(Int(storedByteCount)),
      (1...UInt64(IndexLimits.pageChunkCount)).contains(chunks),
      memberCount <= IndexLimits.pageMemberCount,
      framesStoredByteCount >= chunks, framesStoredByteCount <= chunks * stored,
      contentByteCount >= chunks, contentByteCount <= chunks * content,
      openByteCount <= IndexLimits.openByteCount
    else { throw FormatError(.limitExceeded, "page descriptor with a size or count that no page can have") }
  }

  /// Bytes of the page's name filter; follows from the number of members.
  public var filterByteCount: Int { NameFilter.byteCount(memberCount: Int(memberCount)) }
}

/// One directory frame: descriptors of consecutive pages and their name filters.
public struct PageDirectory: Sendable, Equatable {
  /// Pages in archive order.
  public var pages: [PageDescriptor]
  /// The filters of all pages, one behind the other; lengths are ``PageDescriptor/filterByteCount``.
  public var filters: [UInt8]

  /// A directory; ``encodedFrame()`` checks it.
  public init(pages: [PageDescriptor], filters: [UInt8]) {
    self.pages = pages
    self.filters = filters
  }

  /// Indices, in this directory, of the pages that may hold a path with this hash (``NameFilter/hash(_:)``).
  public func candidates(nameHash: UInt64) -> [Int] {
    var found: [Int] = []
    var offset = 0
    let bytes = filters.span
    for index in pages.indices {
      let count = pages[index].filterByteCount
      guard offset + count <= bytes.count else { break }
      if NameFilter.mayContain(nameHash, filter: bytes.extracting(offset..<(offset + count))) { found.append(index) }
      offset += count
    }
    return found
  }

  /// The whole skippable frame, canonical.
  ///
  /// - Throws: `limitExceeded`, `malformed` for values that the format does not allow.
  public func encodedFrame() throws(FormatError) -> [UInt8] {
    try validate()
    var body: [UInt8] = []
    body.append(varint: UInt64(pages.count))
    for page in pages { body.append(varint: UInt64(page.storedByteCount)) }
    for page in pages { body.append(varint: UInt64(page.chunkCount)) }
    for page in pages { body.append(varint: UInt64(page.memberCount)) }
    for page in pages { body.append(varint: page.framesStoredByteCount) }
    for page in pages { body.append(varint: page.contentByteCount) }
    for page in pages { body.append(varint: page.openByteCount) }
    for page in pages { body.append(littleEndian: page.pageHash) }
    body.append(contentsOf: filters)
    guard body.count <= IndexLimits.directoryByteCount else {
      throw FormatError(.limitExceeded, "directory of \(body.count) bytes")
    }
    return try SkippableFrame.wrap(.directory, body: body)
  }

  /// Reads a whole frame.
  ///
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported`, offsets in the frame.
  public init(decodingFrame frame: Span<UInt8>) throws(FormatError) {
    guard frame.count <= IndexLimits.directoryByteCount + SkippableFrame.prefixByteCount else {
      throw FormatError(.limitExceeded, "directory frame of \(frame.count) bytes")
    }
    var cursor = IndexCursor(try SkippableFrame.parse(.directory, frame))
    let count = try cursor.count(frame, upTo: IndexLimits.directoryPageCount, minimumByteCount: 14, "pages")
    let blank = PageDescriptor(
      storedByteCount: 0, chunkCount: 0, memberCount: 0, framesStoredByteCount: 0, contentByteCount: 0,
      openByteCount: 0, pageHash: 0)
    var pages = [PageDescriptor](repeating: blank, count: count)
    let most = UInt64(UInt32.max)
    for index in pages.indices {
      pages[index].storedByteCount = UInt32(try cursor.varint(frame, upTo: most, "page size"))
    }
    for index in pages.indices {
      pages[index].chunkCount = UInt32(try cursor.varint(frame, upTo: most, "chunks of a page"))
    }
    for index in pages.indices {
      pages[index].memberCount = UInt32(try cursor.varint(frame, upTo: most, "members of a page"))
    }
    for index in pages.indices {
      pages[index].framesStoredByteCount = try cursor.varint(frame, "stored bytes of a page's chunks")
    }
    for index in pages.indices {
      pages[index].contentByteCount = try cursor.varint(frame, "tar bytes of a page's chunks")
    }
    for index in pages.indices { pages[index].openByteCount = try cursor.varint(frame, "open bytes of a page") }
    for index in pages.indices { pages[index].pageHash = try cursor.littleEndian(frame, as: UInt64.self) }
    self.init(pages: pages, filters: [UInt8](copying: frame, cursor.offset..<cursor.end))
    try validate()
  }

  private func validate() throws(FormatError) {
    guard (1...IndexLimits.directoryPageCount).contains(pages.count) else {
      throw FormatError(.limitExceeded, "directory of \(pages.count) pages")
    }
    var filterByteCount = 0
    for page in pages {
      try page.validate()
      filterByteCount += page.filterByteCount
    }
    guard filterByteCount == filters.count else {
      throw FormatError(.malformed, "\(filters.count) bytes of name filters instead of \(filterByteCount)")
    }
  }
}
