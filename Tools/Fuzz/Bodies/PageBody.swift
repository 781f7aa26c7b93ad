internal import ArchiveFormat

/// Everything of the index that is decoded: what is accepted must be what encodes to the same bytes.
enum PageBody {
  /// The first byte says which structure the rest is.
  static func run(_ input: [UInt8]) throws(FuzzFailure) {
    var choices = Choices(input)
    let kind = choices.byte() % 5
    let bytes = choices.rest()
    switch kind {
    case 0: try checkPage(bytes)
    case 1: try checkDirectory(bytes)
    case 2: try checkPreamble(bytes)
    case 3: try checkRoot(bytes)
    default: try checkPageFrame(bytes)
    }
  }

  private static func checkPage(_ bytes: [UInt8]) throws(FuzzFailure) {
    guard let page = accepted({ () throws(FormatError) in try IndexPage(decoding: bytes.span) }) else { return }
    let again = try mustSucceed("encoding a page") { () throws(FormatError) in try page.encoded() }
    try require(again == bytes, "a page encodes to other bytes")
    let end = page.contentByteCount + page.openByteCount
    try require(page.tailByteCount <= end, "\(page.tailByteCount) bytes of tail in \(end)")
    let offsets = page.headerOffsets
    try require(offsets.count == page.members.count, "offsets that are not one for each member")
    var position = -Int64(page.openByteCount)
    for (offset, member) in zip(offsets, page.members) {
      try require(offset == position, "a member at \(offset), not \(position)")
      position += Int64(member.tarByteCount)
      try require(position > 0 && position <= Int64(page.contentByteCount), "a member ends outside of its page")
      try require(TarBody.isArchivePath(member.member.path), "the path \(member.member.path)")
      try require(member.member.kind != .hardlink || TarBody.isArchivePath(member.member.linkTarget), "a hard link")
    }
    // The summary is what directory and root are made of; a whole archive of this page must be decoded as it was made.
    let summary = try mustSucceed("the summary of a page") { () throws(FormatError) in
      try PageSummary(page: page, frame: bytes.span)
    }
    for member in page.members {
      let hash = NameFilter.hash(member.member.path.span)
      try require(NameFilter.mayContain(hash, filter: summary.filter.span), "a filter that misses a member")
    }
    try checkArchive(of: summary)
  }

  private static func checkArchive(of summary: PageSummary) throws(FuzzFailure) {
    guard summary.descriptor.openByteCount == 0, summary.tailByteCount == 0, !summary.isEnd else { return }
    let end = IndexPage.end(
      chunk: ChunkRecord(storedByteCount: 20, contentByteCount: 1024, storedHash: 1, isStored: false))
    let settings = ArchiveSettings(chunkByteCount: 65536, level: 3, zstdVersion: 10504)
    let frames: [[UInt8]]
    do throws(FormatError) {
      var index = try IndexAccumulator(settings: settings, opening: Manifest())
      try index.add(summary)
      let bytes = try end.encoded()
      try index.add(try PageSummary(page: end, frame: bytes.span))
      frames = try index.finish(closing: Manifest())
    } catch {
      return try require(error.code == .limitExceeded, "an archive of one page cannot be finished: \(error)")
    }
    for frame in frames.dropLast() {
      let isRoot = frame == frames[frames.count - 2]
      try mustSucceed("decoding what was encoded") { () throws(FormatError) in
        if isRoot {
          _ = try ArchiveRoot(decodingFrame: frame.span)
        } else {
          _ = try PageDirectory(decodingFrame: frame.span)
        }
      }
    }
  }

  private static func checkDirectory(_ body: [UInt8]) throws(FuzzFailure) {
    guard let frame = accepted({ () throws(FormatError) in try SkippableFrame.wrap(.directory, body: body) }),
      let directory = accepted({ () throws(FormatError) in try PageDirectory(decodingFrame: frame.span) })
    else { return }
    let again = try mustSucceed("encoding a directory") { () throws(FormatError) in try directory.encodedFrame() }
    try require(again == frame, "a directory encodes to other bytes")
    for hash in [0, UInt64.max, 0x1234_5678_9ABC_DEF0] {
      let found = directory.candidates(nameHash: hash)
      try require(found.allSatisfy { directory.pages.indices.contains($0) }, "candidates \(found)")
    }
  }

  private static func checkPreamble(_ body: [UInt8]) throws(FuzzFailure) {
    guard var frame = prefix(.preamble, bodyByteCount: body.count + 8) else { return }
    frame += body
    append(XXH3.hash64(frame.span), to: &frame)
    guard let preamble = accepted({ () throws(FormatError) in try Preamble(decodingFrame: frame.span) }) else { return }
    let again = try mustSucceed("encoding a preamble") { () throws(FormatError) in try preamble.encodedFrame() }
    try require(again == frame, "a preamble encodes to other bytes")
  }

  private static func checkRoot(_ body: [UInt8]) throws(FuzzFailure) {
    guard var frame = prefix(.root, bodyByteCount: body.count + 28) else { return }
    frame += body
    let digest = XXH3.hash128(frame.span)
    append(digest.high.byteSwapped, to: &frame)
    append(digest.low.byteSwapped, to: &frame)
    let count = frame.count + 12
    for shift in stride(from: 0, to: 32, by: 8) { frame.append(UInt8(truncatingIfNeeded: count >> shift)) }
    frame += Array("STIXROOT".utf8)
    guard let root = accepted({ () throws(FormatError) in try ArchiveRoot(decodingFrame: frame.span) }) else { return }
    let again = try mustSucceed("encoding a root") { () throws(FormatError) in try root.encodedFrame() }
    try require(again == frame, "a root encodes to other bytes")
    let stated = try mustSucceed("the digest of a root") { () throws(FormatError) in
      try ArchiveRoot.digest(ofFrame: frame.span)
    }
    try require(stated == digest, "another digest")
    let found = ArchiveRoot.findFooter(in: frame.span)
    try require(found?.end == frame.count && found?.frameByteCount == frame.count, "the footer is not found")
    let offset = try mustSucceed("the place of a root") { () throws(FormatError) in try root.rootOffset }
    try require(offset < 1 << 63, "a root at \(offset)")
  }

  /// Also tried as what a page frame is made of: a zstd frame behind our header.
  private static func checkPageFrame(_ bytes: [UInt8]) throws(FuzzFailure) {
    let whole = accepted { () throws(FormatError) in try PageFrame.wrap(compressed: bytes.span, decodedByteCount: 1000)
    }
    for frame in [bytes, whole ?? []] {
      guard let (byteCount, range) = accepted({ () throws(FormatError) in try PageFrame.parse(frame.span) }) else {
        continue
      }
      try require((1...IndexLimits.pageByteCount).contains(byteCount), "a page of \(byteCount) bytes")
      let compressed = Array(frame[range])
      let again = accepted { () throws(FormatError) in
        try PageFrame.wrap(compressed: compressed.span, decodedByteCount: byteCount)
      }
      try require(again == frame, "a page frame that is made otherwise")
    }
  }

  private static func prefix(_ kind: IndexFrameKind, bodyByteCount: Int) -> [UInt8]? {
    accepted { () throws(FormatError) in try SkippableFrame.prefix(kind, bodyByteCount: bodyByteCount) }
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}

/// The value, or nil when the bytes are refused.
func accepted<Value>(_ body: () throws(FormatError) -> Value) -> Value? {
  do throws(FormatError) { return try body() } catch { return nil }
}
