internal import ArchiveFormat
internal import ArchiveIO

/// An archive of ours with its index: root and directories are checked on opening, pages when they are read.
final class IndexedArchive: Sendable {
  /// Where a page and its chunks lie.
  struct PageLocation: Sendable {
    let number: UInt64
    /// File offset of the page's first data frame.
    let framesOffset: UInt64
    /// File offset of the page frame.
    let pageOffset: UInt64
    let descriptor: PageDescriptor
  }

  let file: ArchiveFile
  /// What one page may take in memory.
  let pageMemoryByteCount: Int
  let root: ArchiveRoot
  let digest: Hash128
  let rootOffset: UInt64
  let rootFrameByteCount: Int
  let preambleByteCount: UInt64
  /// File offsets of the directory frames.
  let directoryOffsets: [UInt64]

  /// Opens the index.
  ///
  /// - Returns: nil when the file has none of ours (it is then read as a stream).
  /// - Throws: `unsupported` for an index of another version; `damaged`, `truncated`, `mismatch` for one that does not hold.
  init?(_ file: ArchiveFile, pageMemoryByteCount: Int) throws(ArchiveError) {
    guard let (rootRange, frame) = try Self.findRoot(file) else { return nil }
    do throws(FormatError) {
      root = try ArchiveRoot(decodingFrame: frame.span)
      digest = try ArchiveRoot.digest(ofFrame: frame.span)
      preambleByteCount = UInt64(try root.preamble.encodedFrame().count)
    } catch { throw ArchiveError(error, base: rootRange.lowerBound) }
    self.file = file
    self.pageMemoryByteCount = pageMemoryByteCount
    rootOffset = rootRange.lowerBound
    rootFrameByteCount = frame.count
    // The root states all sizes before it: that it lies where they end shows that it is the root of this file, and the only one.
    let totals = root.totals
    var offset = preambleByteCount
    let sums =
      [totals.dataStoredByteCount, totals.pagesStoredByteCount] + root.directories.map { UInt64($0.storedByteCount) }
    for value in sums {
      let (sum, overflow) = offset.addingReportingOverflow(value)
      offset = overflow ? .max : sum
    }
    guard offset == rootOffset else {
      throw ArchiveError(
        .mismatch,
        "the index accounts for \(offset) bytes before its root, which lies at \(rootOffset): two archives in one file, or bytes inserted or removed",
        offset: rootOffset)
    }
    var offsets: [UInt64] = []
    var position = rootOffset
    for directory in root.directories.reversed() {
      position -= UInt64(directory.storedByteCount)
      offsets.append(position)
    }
    directoryOffsets = offsets.reversed()
  }

  private static func findRoot(_ file: ArchiveFile) throws(ArchiveError) -> (Range<UInt64>, [UInt8])? {
    let footerByteCount = UInt64(SeekTable.footerByteCount)
    guard file.byteCount > footerByteCount + UInt64(ArchiveRoot.footerByteCount) else { return nil }
    var end = file.byteCount
    let tail = try file.read(end - footerByteCount..<end)
    let footer: SeekTable.Footer?
    do throws(FormatError) { footer = try SeekTable.parseFooter(tail.span) } catch {
      throw ArchiveError(error, base: end)
    }
    if let footer {
      guard UInt64(footer.tableByteCount) <= end else { return nil }
      end -= UInt64(footer.tableByteCount)
    }
    guard end > UInt64(ArchiveRoot.footerByteCount) else { return nil }
    let rootFooter = try file.read(end - UInt64(ArchiveRoot.footerByteCount)..<end)
    guard let byteCount = ArchiveRoot.frameByteCount(footer: rootFooter.span),
      byteCount <= IndexLimits.rootFrameByteCount,
      UInt64(byteCount) <= end
    else { return nil }
    let range = end - UInt64(byteCount)..<end
    return (range, try file.read(range))
  }

  // MARK: Directories and pages

  /// The pages that a directory frame describes, with their places, and the frame's name filters.
  func directory(_ index: Int, startingAt start: PagePosition) throws(ArchiveError) -> (PageDirectory, [PageLocation]) {
    let reference = root.directories[index]
    let offset = directoryOffsets[index]
    let frame = try file.read(offset..<offset + UInt64(reference.storedByteCount))
    guard XXH3.hash64(frame.span) == reference.hash else {
      throw ArchiveError(
        .damaged, "directory frame \(index) does not have the hash that the root states", offset: offset)
    }
    let directory: PageDirectory
    do throws(FormatError) { directory = try PageDirectory(decodingFrame: frame.span) } catch {
      throw ArchiveError(error, base: offset)
    }
    var position = start
    var locations: [PageLocation] = []
    locations.reserveCapacity(directory.pages.count)
    for page in directory.pages {
      // The preamble lies behind the first data frame.
      let extra = position.number == 0 ? preambleByteCount : 0
      let (pageOffset, overflow1) = position.offset.addingReportingOverflow(page.framesStoredByteCount &+ extra)
      let (next, overflow2) = pageOffset.addingReportingOverflow(UInt64(page.storedByteCount))
      guard !overflow1, !overflow2, next <= rootOffset else {
        throw ArchiveError(.damaged, "page \(position.number) lies beyond the root", offset: offset)
      }
      locations.append(
        PageLocation(number: position.number, framesOffset: position.offset, pageOffset: pageOffset, descriptor: page))
      position = PagePosition(number: position.number + 1, offset: next)
    }
    return (directory, locations)
  }

  /// Reads, checks and decodes one page.
  func page(_ location: PageLocation, codec: PageCodec) throws(ArchiveError) -> IndexPage {
    try pageAndFrame(location, codec: codec).page
  }

  /// Reads, checks and decodes one page; with the frame as stored.
  func pageAndFrame(
    _ location: PageLocation, codec: PageCodec
  ) throws(ArchiveError) -> (page: IndexPage, frame: [UInt8]) {
    let byteCount = UInt64(location.descriptor.storedByteCount)
    guard byteCount <= UInt64(IndexLimits.pageFrameByteCount) else {
      throw ArchiveError(.limitExceeded, "page \(location.number) has \(byteCount) bytes", offset: location.pageOffset)
    }
    try codec.checkMemory(Int(byteCount))
    let frame = try file.read(location.pageOffset..<location.pageOffset + byteCount)
    guard XXH3.hash64(frame.span) == location.descriptor.pageHash else {
      throw ArchiveError(
        .damaged, "index page \(location.number) does not have the hash that the directory states",
        offset: location.pageOffset)
    }
    let page: IndexPage
    do throws(ArchiveError) { page = try codec.decode(frame.span) } catch {
      throw ArchiveError(error.code, "index page \(location.number): \(error.message)", offset: location.pageOffset)
    }
    let descriptor = location.descriptor
    guard page.chunks.count == Int(descriptor.chunkCount), page.members.count == Int(descriptor.memberCount),
      page.contentByteCount == descriptor.contentByteCount, page.openByteCount == descriptor.openByteCount,
      page.framesStoredByteCount == descriptor.framesStoredByteCount
    else {
      throw ArchiveError(
        .mismatch, "index page \(location.number) and its entry in the directory differ", offset: location.pageOffset)
    }
    return (page, frame)
  }

  /// Decodes pages within what they may take.
  func makeCodec() -> PageCodec { PageCodec(memoryByteCount: pageMemoryByteCount) }

  /// File offset of each chunk of a page.
  func chunkOffsets(_ location: PageLocation, _ page: IndexPage) -> [UInt64] {
    var offset = location.framesOffset
    var offsets: [UInt64] = []
    offsets.reserveCapacity(page.chunks.count)
    for (index, chunk) in page.chunks.enumerated() {
      offsets.append(offset)
      offset += UInt64(chunk.storedByteCount)
      if location.number == 0 && index == 0 { offset += preambleByteCount }
    }
    return offsets
  }

  /// The largest content of a chunk that the archive's own settings allow (specification, "Chunk size").
  var maximumChunkContentByteCount: Int { Int(root.settings.chunkByteCount) * 3 / 2 + (4 << 20) }

  /// The position of page 0.
  static let start = PagePosition(number: 0, offset: 0)
}

/// The number of a page and where its first data frame begins.
struct PagePosition: Sendable {
  var number: UInt64
  var offset: UInt64
}

/// Goes through all pages in order; holds one directory frame and no page.
struct PageIterator {
  private let archive: IndexedArchive
  private var directoryIndex = 0
  private var locations: [IndexedArchive.PageLocation] = []
  private var next = 0
  private var position = IndexedArchive.start

  init(_ archive: IndexedArchive) { self.archive = archive }

  /// The place of the next page.
  mutating func nextLocation() throws(ArchiveError) -> IndexedArchive.PageLocation? {
    while next == locations.count {
      guard directoryIndex < archive.root.directories.count else { return nil }
      (_, locations) = try archive.directory(directoryIndex, startingAt: position)
      if let last = locations.last {
        position = PagePosition(
          number: last.number + 1, offset: last.pageOffset + UInt64(last.descriptor.storedByteCount))
      }
      directoryIndex += 1
      next = 0
    }
    defer { next += 1 }
    return locations[next]
  }

  /// The places that follow, without going on, until `isWanted`.
  func lookAhead(_ isWanted: (IndexedArchive.PageLocation) -> Bool) throws(ArchiveError) -> IndexedArchive.PageLocation?
  {
    var copy = self
    while let location = try copy.nextLocation() {
      if isWanted(location) { return location }
    }
    return nil
  }
}
