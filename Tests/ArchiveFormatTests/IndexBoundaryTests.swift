import Testing

@testable import ArchiveFormat

/// Index frames whose hashes hold and that say what does not fit together.
@Suite struct IndexBoundaryTests {
  private func code(_ body: () throws(FormatError) -> Void) -> FormatError.Code? {
    do throws(FormatError) {
      try body()
      return nil
    } catch { return error.code }
  }

  /// A page's frame with a window beyond all pages would take that much memory in a streaming decoder.
  @Test func windowsOfPages() throws {
    for (exponent, isRight) in [(10, true), (16, true), (17, false), (21, false), (31, false)] {
      // Magic, four bytes of content size, window, size, one raw block.
      let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x80, UInt8(exponent << 3), 1, 0, 0, 0, 1 << 3 | 1, 0, 0, 7]
      let page = try PageFrame.wrap(compressed: frame.span, decodedByteCount: 1)
      #expect(
        code { () throws(FormatError) in _ = try PageFrame.parse(page.span) } == (isRight ? nil : .malformed),
        "2^\(exponent + 10)")
    }
  }

  private static let descriptor = PageDescriptor(
    storedByteCount: 100, chunkCount: 1, memberCount: 1, framesStoredByteCount: 10, contentByteCount: 1024,
    openByteCount: 0, pageHash: 1)

  @Test func filtersOfDirectories() throws {
    let directory = PageDirectory(pages: [Self.descriptor], filters: [UInt8](repeating: 1, count: 8 * 2))
    #expect(code { () throws(FormatError) in _ = try directory.encodedFrame() } == .malformed)
    let right = PageDirectory(
      pages: [Self.descriptor], filters: [UInt8](repeating: 1, count: Self.descriptor.filterByteCount))
    let body = Array(try right.encodedFrame().dropFirst(SkippableFrame.prefixByteCount))
    for change in [body + [0], Array(body.dropLast())] {
      let frame = try SkippableFrame.wrap(.directory, body: change)
      #expect(code { () throws(FormatError) in _ = try PageDirectory(decodingFrame: frame.span) } == .malformed)
    }
  }

  private func root(_ change: (inout ArchiveTotals) -> Void = { _ in }) -> ArchiveRoot {
    var totals = ArchiveTotals()
    (totals.chunkCount, totals.pageCount, totals.memberCount, totals.fileCount) = (5, 4, 3, 2)
    (totals.incompleteCount, totals.contentByteCount, totals.tarByteCount) = (1, 100, 4096)
    (totals.dataStoredByteCount, totals.pagesStoredByteCount) = (500, 400)
    change(&totals)
    return ArchiveRoot(
      settings: ArchiveSettings(chunkByteCount: 4 << 20, level: 3, zstdVersion: 10504), opening: Manifest(),
      closing: Manifest(), totals: totals, directories: [DirectoryReference(storedByteCount: 60, hash: 9)])
  }

  @Test func totalsThatContradictEachOther() throws {
    #expect(code { () throws(FormatError) in _ = try root().encodedFrame() } == nil)
    let changes: [(inout ArchiveTotals) -> Void] = [
      { $0.pageCount = 6 }, { $0.pageCount = 0 }, { $0.fileCount = 4 }, { $0.incompleteCount = 3 },
    ]
    for (number, change) in changes.enumerated() {
      #expect(code { () throws(FormatError) in _ = try root(change).encodedFrame() } == .malformed, "\(number)")
    }
    let limits: [(inout ArchiveTotals) -> Void] = [
      { $0.chunkCount = IndexLimits.totalCount + 1 }, { $0.memberCount = IndexLimits.totalCount + 1 },
      { $0.tarByteCount = .max }, { $0.dataStoredByteCount = .max }, { $0.contentByteCount = .max },
    ]
    for (number, change) in limits.enumerated() {
      #expect(code { () throws(FormatError) in _ = try root(change).encodedFrame() } == .limitExceeded, "\(number)")
    }
  }

  /// The size of the preamble is stated and follows from its values: both have to agree.
  @Test func theRootKnowsItsPreamble() throws {
    let frame = try root().encodedFrame()
    let size = UInt8(try root().preamble.encodedFrame().count)
    let bodyEnd = frame.count - 28
    var refusals = 0
    for place in SkippableFrame.prefixByteCount..<bodyEnd where frame[place] == size {
      var changed = Array(frame[..<bodyEnd])
      changed[place] += 1
      let digest = XXH3.hash128(changed.span)
      changed.append(littleEndian: digest.high.byteSwapped)
      changed.append(littleEndian: digest.low.byteSwapped)
      changed += frame[(frame.count - 12)...]
      do throws(FormatError) { _ = try ArchiveRoot(decodingFrame: changed.span) } catch {
        if error.message.contains("preamble") { refusals += 1 }
      }
    }
    #expect(refusals == 1)
  }

  /// A seek table that is shorter or longer than its footer says is refused before memory is taken for its entries.
  @Test func entriesOfSeekTables() throws {
    let entry = SeekTable.Entry(compressedByteCount: 1, decompressedByteCount: 2)
    let table = try SeekTable.encodedFrame([entry, entry])
    #expect(try SeekTable.parse(table.span) == [entry, entry])
    for count in [0, 1, 3, 1000, 1 << 20] as [UInt32] {
      var frame = table
      for index in 0..<4 { frame[frame.count - 9 + index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index)) }
      #expect(code { () throws(FormatError) in _ = try SeekTable.parse(frame.span) } == .malformed, "\(count)")
    }
  }

  /// The root's sums are those of the pages.
  @Test(arguments: 0..<40 as Range<UInt64>) func totalsAreSums(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let page = PageFactory.page(&random, open: 0)
    let frame = try PageFrame.wrap(compressed: [0].span, decodedByteCount: 1)
    let summary = try PageSummary(page: page, frame: frame.span)
    var index = try IndexAccumulator(settings: root().settings, opening: Manifest())
    try index.add(summary)
    let files = page.members.filter { $0.member.kind == .file }
    #expect(index.totals.memberCount == UInt64(page.members.count) && index.totals.fileCount == UInt64(files.count))
    #expect(index.totals.incompleteCount == UInt64(files.count { $0.isIncomplete }), "seed \(seed)")
    #expect(index.totals.contentByteCount == files.reduce(0) { $0 + $1.member.byteCount }, "seed \(seed)")
    #expect(index.totals.chunkCount == UInt64(page.chunks.count) && index.totals.pageCount == 1)
    #expect(index.totals.tarByteCount == page.contentByteCount)
    #expect(index.totals.dataStoredByteCount == page.framesStoredByteCount)
    #expect(index.totals.pagesStoredByteCount == UInt64(frame.count))
  }
}
