/// What the directory, the root and the seek table need to know of a page. Made by whoever encoded or decoded it
/// (a lane: the name filter costs time), taken by ``IndexAccumulator`` in archive order.
public struct PageSummary: Sendable, Equatable {
  /// The page's line in the directory.
  public var descriptor: PageDescriptor
  /// The page's chunks.
  public var chunks: [ChunkRecord]
  /// Name filter of the page's members.
  public var filter: [UInt8]
  /// Members that are files.
  public var fileCount: UInt64
  /// Files that are marked incomplete.
  public var incompleteCount: UInt64
  /// Sum of the files' logical sizes.
  public var contentByteCount: UInt64
  /// ``IndexPage/tailByteCount``.
  public var tailByteCount: UInt64
  /// ``IndexPage/isEnd``.
  public var isEnd: Bool

  /// Sums up a page that ``IndexPage/encoded()`` accepts; `frame` is the whole page frame as stored.
  ///
  /// - Throws: `limitExceeded`.
  public init(page: IndexPage, frame: Span<UInt8>) throws(FormatError) {
    descriptor = PageDescriptor(
      storedByteCount: UInt32(clamping: frame.count), chunkCount: UInt32(clamping: page.chunks.count),
      memberCount: UInt32(clamping: page.members.count), framesStoredByteCount: page.framesStoredByteCount,
      contentByteCount: page.contentByteCount, openByteCount: page.openByteCount, pageHash: XXH3.hash64(frame))
    try descriptor.validate()
    chunks = page.chunks
    fileCount = 0
    incompleteCount = 0
    contentByteCount = 0
    tailByteCount = page.tailByteCount
    isEnd = page.isEnd
    var hashes: [UInt64] = []
    hashes.reserveCapacity(page.members.count)
    let members = page.members.span
    for index in members.indices {
      hashes.append(NameFilter.hash(members[index].member.path.span))
      guard members[index].member.kind == .file else { continue }
      fileCount += 1
      if members[index].isIncomplete { incompleteCount += 1 }
      contentByteCount = try contentByteCount.adding(members[index].member.byteCount)
    }
    filter = NameFilter.make(hashes: hashes)
  }
}

/// Makes everything that follows the last page: directory frames, root and seek table. Shared by the writer and by
/// `verify`, which compares. Keeps at most 16 bytes a frame and the name filters.
public struct IndexAccumulator: Sendable {
  /// Settings of the archive.
  public let settings: ArchiveSettings
  /// Manifest of preamble and root.
  public let opening: Manifest
  /// The preamble frame, to be written behind the first data frame.
  public let preambleFrame: [UInt8]
  /// Sums over the pages so far.
  public private(set) var totals = ArchiveTotals()
  /// For each page its descriptor and, if it has more than one chunk, the sizes of each.
  private var rows: [UInt8] = []
  private var filters: [UInt8] = []
  private var tailByteCount: UInt64 = 0
  private var hasEnded = false

  /// Starts an archive.
  ///
  /// - Throws: `limitExceeded`, `malformed` for settings or a manifest that the format does not allow.
  public init(settings: ArchiveSettings, opening: Manifest) throws(FormatError) {
    self.settings = settings
    self.opening = opening
    preambleFrame = try Preamble(settings: settings, opening: opening).encodedFrame()
  }

  /// Adds the next page.
  ///
  /// - Throws: `malformed` when the page does not continue the one before it or follows the end page;
  ///   `limitExceeded`.
  public mutating func add(_ summary: PageSummary) throws(FormatError) {
    guard !hasEnded else { throw FormatError(.malformed, "page behind the end page") }
    guard summary.descriptor.openByteCount == tailByteCount else {
      throw FormatError(
        .malformed,
        "page \(totals.pageCount) continues a member after \(summary.descriptor.openByteCount) bytes, not \(tailByteCount)"
      )
    }
    try summary.descriptor.validate()
    guard summary.chunks.count == Int(summary.descriptor.chunkCount),
      summary.filter.count == summary.descriptor.filterByteCount
    else { throw FormatError(.malformed, "page summary whose parts do not fit each other") }
    tailByteCount = summary.tailByteCount
    hasEnded = summary.isEnd
    let descriptor = summary.descriptor
    totals.chunkCount += UInt64(descriptor.chunkCount)
    totals.pageCount += 1
    totals.memberCount += UInt64(descriptor.memberCount)
    totals.fileCount += summary.fileCount
    totals.incompleteCount += summary.incompleteCount
    totals.contentByteCount = try totals.contentByteCount.adding(summary.contentByteCount)
    totals.tarByteCount = try totals.tarByteCount.adding(descriptor.contentByteCount)
    totals.dataStoredByteCount = try totals.dataStoredByteCount.adding(descriptor.framesStoredByteCount)
    totals.pagesStoredByteCount = try totals.pagesStoredByteCount.adding(UInt64(descriptor.storedByteCount))
    try totals.validate()
    rows.append(varint: UInt64(descriptor.storedByteCount))
    rows.append(varint: UInt64(descriptor.chunkCount))
    rows.append(varint: UInt64(descriptor.memberCount))
    rows.append(varint: descriptor.framesStoredByteCount)
    rows.append(varint: descriptor.contentByteCount)
    rows.append(varint: descriptor.openByteCount)
    rows.append(littleEndian: descriptor.pageHash)
    if summary.chunks.count > 1 {
      for chunk in summary.chunks {
        rows.append(varint: UInt64(chunk.storedByteCount))
        rows.append(varint: UInt64(chunk.contentByteCount))
      }
    }
    filters.append(contentsOf: summary.filter)
  }

  /// The frames behind the end page, in order: directories, root, seek table (none when it cannot hold the sizes).
  ///
  /// - Returns: the root; its frame is the last but one that was emitted, or the last when there is no seek table.
  /// - Throws: what `emit` throws, and ``FormatError`` wrapped by `wrap` (`malformed` when the end page is missing).
  public consuming func finish<Failure: Error>(
    closing: Manifest, wrap: (FormatError) -> Failure, emit: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> ArchiveRoot {
    guard hasEnded else { throw wrap(FormatError(.malformed, "archive without end page")) }
    var root = ArchiveRoot(settings: settings, opening: opening, closing: closing, totals: totals, directories: [])
    var position = DirectoryPosition()
    while position.row < rows.count {
      let frame: [UInt8]
      do throws(FormatError) {
        frame = try nextDirectory(&position).encodedFrame()
      } catch {
        throw wrap(error)
      }
      root.directories.append(
        DirectoryReference(storedByteCount: UInt32(frame.count), hash: XXH3.hash64(frame.span)))
      try emit(frame)
    }
    let frame: [UInt8]
    let table: [UInt8]?
    do throws(FormatError) {
      frame = try root.encodedFrame()
      table = try seekTable(directories: root.directories, rootByteCount: UInt32(frame.count))
    } catch {
      throw wrap(error)
    }
    try emit(frame)
    if let table { try emit(table) }
    return root
  }

  /// The same frames in one array, for small archives and tests.
  ///
  /// - Throws: as ``finish(closing:wrap:emit:)``.
  public consuming func finish(closing: Manifest) throws(FormatError) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    _ = try finish(closing: closing, wrap: { $0 }, emit: { (frame) throws(FormatError) in frames.append(frame) })
    return frames
  }

  private struct DirectoryPosition {
    var row = 0
    var filter = 0
  }

  /// As many pages as a directory frame holds.
  private func nextDirectory(_ position: inout DirectoryPosition) throws(FormatError) -> PageDirectory {
    var directory = PageDirectory(pages: [], filters: [])
    let bytes = rows.span
    var byteCount = 0
    while position.row < bytes.count, directory.pages.count < IndexLimits.directoryPageCount {
      var cursor = IndexCursor(position.row..<bytes.count)
      let descriptor = try PageDescriptor(row: bytes, &cursor)
      // Behind the descriptor's columns only the number of pages is needed: at most 3 bytes.
      byteCount += cursor.offset - position.row + descriptor.filterByteCount
      if byteCount + 3 > IndexLimits.directoryByteCount { break }
      for _ in 0..<(descriptor.chunkCount > 1 ? 2 * descriptor.chunkCount : 0) { _ = try cursor.varint(bytes, "row") }
      position.row = cursor.offset
      directory.pages.append(descriptor)
      let end = position.filter + descriptor.filterByteCount
      directory.filters.append(contentsOf: filters[position.filter..<end])
      position.filter = end
    }
    return directory
  }

  /// The seek table, nil when its format cannot hold this many frames.
  private func seekTable(directories: [DirectoryReference], rootByteCount: UInt32) throws(FormatError) -> [UInt8]? {
    let frameCount = totals.chunkCount + totals.pageCount + UInt64(directories.count) + 2
    guard frameCount <= SeekTable.maximumFrameCount else { return nil }
    var frame = SkippableFrame.header(
      magic: SeekTable.magic, payloadByteCount: UInt32(frameCount * 8) + UInt32(SeekTable.footerByteCount))
    frame.reserveCapacity(Int(frameCount) * 8 + SeekTable.overheadByteCount)
    var isFirst = true
    let bytes = rows.span
    var cursor = IndexCursor(0..<bytes.count)
    while cursor.remaining > 0 {
      let page = try PageDescriptor(row: bytes, &cursor)
      for _ in 0..<page.chunkCount {
        let isOnly = page.chunkCount == 1
        let stored = isOnly ? page.framesStoredByteCount : try cursor.varint(bytes, "row")
        let content = isOnly ? page.contentByteCount : try cursor.varint(bytes, "row")
        frame.append(littleEndian: UInt32(truncatingIfNeeded: stored))
        frame.append(littleEndian: UInt32(truncatingIfNeeded: content))
        if isFirst { frame.appendEntry(skippable: UInt32(preambleFrame.count)) }
        isFirst = false
      }
      frame.appendEntry(skippable: page.storedByteCount)
    }
    for directory in directories { frame.appendEntry(skippable: directory.storedByteCount) }
    frame.appendEntry(skippable: rootByteCount)
    SeekTable.appendFooter(frameCount: UInt32(frameCount), to: &frame)
    return frame
  }
}

extension [UInt8] {
  /// A seek table entry of a skippable frame.
  fileprivate mutating func appendEntry(skippable byteCount: UInt32) {
    append(littleEndian: byteCount)
    append(littleEndian: UInt32(0))
  }
}

extension UInt64 {
  /// - Throws: `limitExceeded` instead of overflowing.
  fileprivate func adding(_ other: UInt64) throws(FormatError) -> UInt64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    guard !isOverflow else { throw FormatError(.limitExceeded, "sum of sizes") }
    return sum
  }
}

extension PageDescriptor {
  /// Reads what ``IndexAccumulator/add(_:)`` has kept.
  fileprivate init(row bytes: Span<UInt8>, _ cursor: inout IndexCursor) throws(FormatError) {
    storedByteCount = UInt32(truncatingIfNeeded: try cursor.varint(bytes, "row"))
    chunkCount = UInt32(truncatingIfNeeded: try cursor.varint(bytes, "row"))
    memberCount = UInt32(truncatingIfNeeded: try cursor.varint(bytes, "row"))
    framesStoredByteCount = try cursor.varint(bytes, "row")
    contentByteCount = try cursor.varint(bytes, "row")
    openByteCount = try cursor.varint(bytes, "row")
    pageHash = try cursor.littleEndian(bytes, as: UInt64.self)
  }
}
