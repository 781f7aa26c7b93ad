import ArchiveFormat
import Testing

@Suite struct IndexAccumulatorTests {
  static func endPage() -> IndexPage {
    IndexPage.end(chunk: ChunkRecord(storedByteCount: 24, contentByteCount: 1024, storedHash: 4, isStored: false))
  }

  /// Pages that continue each other, the end page last.
  static func pages(_ seed: UInt64, _ count: Int) -> [IndexPage] {
    var random = SeededGenerator(seed)
    var pages: [IndexPage] = []
    for _ in 0..<count {
      var page = PageFactory.page(&random, open: 0)
      // Close what is open: shorten the last chunk to the last member's end.
      let tail = page.tailByteCount
      if tail > 0, tail < page.contentByteCount {
        var rest = tail
        while let last = page.chunks.last, UInt64(last.contentByteCount) <= rest {
          rest -= UInt64(last.contentByteCount)
          page.chunks.removeLast()
        }
        if rest > 0 { page.chunks[page.chunks.count - 1].contentByteCount -= UInt32(rest) }
      }
      if page.tailByteCount == 0, !page.chunks.isEmpty { pages.append(page) }
    }
    return pages + [endPage()]
  }

  @Test func framesTellThePages() throws {
    for seed in 0..<30 as Range<UInt64> {
      let pages = Self.pages(seed, 20)
      var accumulator = try IndexAccumulator(settings: IndexFrameTests.settings, opening: IndexFrameTests.opening)
      var sizes: [SeekTable.Entry] = []
      var frames: [[UInt8]] = []
      for page in pages {
        let frame = try page.encoded()
        frames.append(frame)
        try accumulator.add(try PageSummary(page: page, frame: frame.span))
        for chunk in page.chunks {
          sizes.append(.init(compressedByteCount: chunk.storedByteCount, decompressedByteCount: chunk.contentByteCount))
          if sizes.count == 1 {
            sizes.append(.init(compressedByteCount: UInt32(accumulator.preambleFrame.count), decompressedByteCount: 0))
          }
        }
        sizes.append(.init(compressedByteCount: UInt32(frame.count), decompressedByteCount: 0))
      }
      let totals = accumulator.totals
      let end = try accumulator.finish(closing: Manifest())
      #expect(end.count == 3)
      let (directoryFrame, rootFrame) = (end[0], end[1])
      let directory = try PageDirectory(decodingFrame: directoryFrame.span)
      let root = try ArchiveRoot(decodingFrame: rootFrame.span)
      sizes += end[..<2].map { .init(compressedByteCount: UInt32($0.count), decompressedByteCount: 0) }
      #expect(end[2] == (try SeekTable.encodedFrame(sizes)), "seed \(seed)")
      #expect(root.totals == totals)
      #expect(root.totals.memberCount == UInt64(pages.reduce(0) { $0 + $1.members.count }))
      #expect(root.directories == [.init(storedByteCount: UInt32(end[0].count), hash: hash64(end[0]))])
      #expect(try root.rootOffset == sizes.dropLast().reduce(0) { $0 + UInt64($1.compressedByteCount) })
      #expect(directory.pages.count == pages.count)
      for (index, page) in pages.enumerated() {
        #expect(directory.pages[index].pageHash == hash64(frames[index]))
        for member in page.members {
          #expect(mayBeAt(index, member.member.path, directory))
        }
      }
      #expect(try directory.encodedFrame() == end[0])
    }
  }

  @Test func refusesWhatDoesNotContinue() throws {
    var accumulator = try IndexAccumulator(settings: IndexFrameTests.settings, opening: Manifest())
    let chunk = ChunkRecord(storedByteCount: 1, contentByteCount: 1000, storedHash: 0, isStored: false)
    let open = IndexPage(chunks: [chunk], members: [])
    let end = Self.endPage()
    let unfinished = accumulator
    #expect(throws: FormatError.self) { try unfinished.finish(closing: Manifest()) }
    try accumulator.add(try summary(open))
    #expect(throws: FormatError.self) { try accumulator.add(try summary(end)) }
    #expect(throws: FormatError.self) { try accumulator.add(try summary(open)) }
    var other = try IndexAccumulator(settings: IndexFrameTests.settings, opening: Manifest())
    try other.add(try summary(end))
    #expect(throws: FormatError.self) { try other.add(try summary(end)) }
    #expect(try other.finish(closing: Manifest()).count == 3)
  }

  /// Directories are filled up to their limit and stay below it.
  @Test func manyPagesNeedSeveralDirectories() throws {
    var accumulator = try IndexAccumulator(settings: IndexFrameTests.settings, opening: Manifest())
    var random = SeededGenerator(5)
    let chunk = ChunkRecord(storedByteCount: 100, contentByteCount: 512 * 1000, storedHash: 0, isStored: false)
    let records = (0..<1000).map { index in
      IndexedMember(member: Member(path: Array("f\(index)".utf8), kind: .directory), headerByteCount: 512)
    }
    let page = IndexPage(chunks: [chunk], members: records)
    let stored: [UInt8] = [1]
    var one = try PageSummary(page: page, frame: stored.span)
    for _ in 0..<2000 {
      one.descriptor.pageHash = random.next()
      try accumulator.add(one)
    }
    let end = Self.endPage()
    try accumulator.add(try summary(end))
    let frames = try accumulator.finish(closing: Manifest())
    #expect(frames.count == 5)
    var pages = 0
    for frame in frames.dropLast(2) {
      #expect(frame.count <= IndexLimits.directoryByteCount + 16)
      pages += try PageDirectory(decodingFrame: frame.span).pages.count
    }
    #expect(pages == 2001)
    #expect(frames[0].count > IndexLimits.directoryByteCount - 2000)
  }

  @Test func damagedDirectoriesNeverTrap() throws {
    var accumulator = try IndexAccumulator(settings: IndexFrameTests.settings, opening: Manifest())
    for page in Self.pages(3, 4) { try accumulator.add(try summary(page)) }
    let frames = try accumulator.finish(closing: Manifest())
    let frame = frames[0]
    let directory = try PageDirectory(decodingFrame: frame.span)
    for bit in 0..<(frame.count * 8) {
      var damaged = frame
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let found = try? PageDirectory(decodingFrame: damaged.span) else { continue }
      #expect(found != directory, "bit \(bit)")
      #expect(try found.encodedFrame() == damaged, "bit \(bit)")
    }
    for count in 0..<frame.count {
      #expect(throws: FormatError.self) { try PageDirectory(decodingFrame: frame.span.extracting(0..<count)) }
    }
  }
}
