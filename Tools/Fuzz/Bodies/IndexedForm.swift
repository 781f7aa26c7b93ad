internal import ArchiveEngine
internal import ArchiveFormat

/// An archive with an index of ours: made by the real encoders, then changed where hashes do not show it, since they are
/// made after the change.
enum IndexedForm {
  /// What is changed, and how often: mostly nothing, at most a few things.
  private struct Lies {
    var members: Int
    var chunks: Int
    var payloads: Int
    var frames: Int
    var splits: Int
    var flags: Int

    init(_ choices: inout Choices) {
      members = choices.pick([0, 0, 0, 0, 1, 1, 2, 3])
      chunks = choices.pick([0, 0, 0, 0, 0, 0, 1, 2])
      payloads = choices.pick([0, 0, 0, 0, 0, 0, 1, 2])
      let kind = choices.below(32)
      frames = kind == 7 ? 1 : 0
      splits = kind == 15 ? 1 : 0
      flags = kind == 23 ? 1 : 0
    }
  }

  private struct Placed {
    var record: IndexedMember
    var offset: Int
    var end: Int
  }

  /// nil when the strict parser refuses something in the stream: no index can describe that.
  static func archive(of stream: [UInt8], _ choices: inout Choices) -> [UInt8]? {
    var lies = Lies(&choices)
    guard var members = placed(stream, byItself: !choices.chance(oneIn: 4)), members.last?.end ?? 0 == stream.count
    else { return nil }
    let cuts = cuts(members, stream.count, &choices)
    for _ in 0..<lies.members where !members.isEmpty {
      change(&members[choices.below(members.count)].record, &choices)
    }
    var contents = zip([0] + cuts, cuts).map { Array(stream[$0..<$1]) }
    for _ in 0..<lies.chunks where !contents.isEmpty { change(&contents[choices.below(contents.count)], &choices) }
    var frames = (contents + [RawTar.end]).map { Zstd.frame($0) }
    // A chunk of two frames is one for the decoder, and none for who reads the stream.
    for _ in 0..<lies.splits where contents.count > 1 {
      let index = 1 + choices.below(contents.count - 1)
      let middle = contents[index].count / 2
      frames[index] = Zstd.frame(contents[index][..<middle]) + Zstd.frame(contents[index][middle...])
    }
    if let first = frames.first { frames[0] = marked(first) }
    for _ in 0..<lies.frames where frames.count > 2 {
      frames.swapAt(choices.below(frames.count - 1), choices.below(frames.count - 1))
    }
    var pages = pages(members, contents, frames, &choices)
    for _ in 0..<lies.flags { pages[choices.below(pages.count)].chunks[0].isStored.toggle() }
    return accepted { () throws(FormatError) in
      try assemble(pages, frames, payloadLies: &lies.payloads, &choices)
    }
  }

  /// The members of a stream, as the index describes them: each read by itself, or all in their order.
  private static func placed(_ stream: [UInt8], byItself: Bool) -> [Placed]? {
    var parser = TarParser()
    var result: [Placed] = []
    var position = 0
    while position < stream.count {
      if byItself { parser = TarParser(startOffset: UInt64(position)) }
      guard
        let step = accepted({ () throws(FormatError) in try parser.consume(stream.span, in: position..<stream.count) }),
        case .member(let found)? = step.event
      else { return nil }
      let dataStart = position + step.consumed
      guard found.paddedDataByteCount <= UInt64(stream.count - dataStart) else { return nil }
      var record = IndexedMember(member: found.member, headerByteCount: found.headerByteCount)
      if found.member.kind == .file {
        var content =
          found.member.sparseExtents.map {
            IndexedMember.sparseHashPrefix(extents: $0, byteCount: found.member.byteCount)
          } ?? []
        content += stream[dataStart..<(dataStart + Int(found.dataByteCount))]
        record.contentHash = XXH3.hash128(content.span)
      }
      parser.skip(found.paddedDataByteCount)
      let end = dataStart + Int(found.paddedDataByteCount)
      result.append(Placed(record: record, offset: position, end: end))
      position = end
    }
    return result
  }

  /// Where chunks end: behind members, sometimes within.
  private static func cuts(_ members: [Placed], _ byteCount: Int, _ choices: inout Choices) -> [Int] {
    var cuts: Set<Int> = []
    for member in members {
      if choices.chance(oneIn: 3) { cuts.insert(member.end) }
      if choices.chance(oneIn: 8) { cuts.insert(member.offset + choices.below(65536) % (member.end - member.offset)) }
    }
    return (cuts.filter { $0 > 0 && $0 < byteCount } + (byteCount > 0 ? [byteCount] : [])).sorted()
  }

  /// Makes a record say something else than the header.
  private static func change(_ record: inout IndexedMember, _ choices: inout Choices) {
    switch choices.below(12) {
    case 0: record.member.path = Array(choices.pick(["a", "l/keep", "b/x", "zz", "."]).utf8)
    case 1: record.member.linkTarget = Array(choices.pick(["a", "../outside/keep", "d", ""]).utf8)
    case 2:
      record.member.kind = choices.pick(MemberKind.allCases)
      record.contentHash = record.member.kind == .file ? Hash128(high: 1, low: 2) : nil
    case 3: record.member.mode = UInt32(choices.below(0o10000))
    case 4: record.member.byteCount = record.member.byteCount &+ choices.number()
    case 5: record.headerByteCount = record.headerByteCount &+ 512 &* UInt64(choices.below(3)) &- 512
    case 6: record.contentHash?.low ^= 1
    case 7: record.member.sparseExtents = [SparseExtent(offset: choices.number(), byteCount: choices.number())]
    case 8: record.isIncomplete.toggle()
    case 9: record.member.userID = choices.number()
    case 10: record.member.extendedAttributes = [ExtendedAttribute(name: choices.take(4), value: choices.take(4))]
    default: record.member.modificationTime.seconds &+= 1
    }
  }

  /// Makes the stream say something else than the records, with a right checksum if it is in a header.
  private static func change(_ content: inout [UInt8], _ choices: inout Choices) {
    guard !content.isEmpty else { return }
    let place = choices.below(65536) % content.count
    content[place] = choices.byte()
    let block = place & ~511
    if block + 512 <= content.count, content[block + 257] == 0x75 { RawTar.setChecksum(&content, at: block) }
  }

  /// The content size of the first frame in eight bytes, as our writer marks archives.
  private static func marked(_ frame: [UInt8]) -> [UInt8] {
    guard let start = accepted({ () throws(FormatError) in try ZstdFraming.parseStart(frame.span) }) ?? nil else {
      return frame
    }
    return FirstFrame.marked(header: Array(frame.prefix(start.headerByteCount)))
      + frame.dropFirst(start.headerByteCount)
  }

  private static func pages(
    _ members: [Placed], _ contents: [[UInt8]], _ frames: [[UInt8]], _ choices: inout Choices
  ) -> [IndexPage] {
    func record(_ index: Int, _ byteCount: Int) -> ChunkRecord {
      let frame = frames[index]
      var walker = ZstdFrameWalker()
      _ = accepted { () throws(FormatError) in try walker.consume(frame.span, in: 0..<frame.count) }
      let hash = XXH3.hash64(frame.span)
      return ChunkRecord(
        storedByteCount: UInt32(frame.count), contentByteCount: UInt32(byteCount), storedHash: hash,
        isStored: walker.hasOnlyRawBlocks)
    }
    var pages: [IndexPage] = []
    var page = IndexPage(chunks: [], members: [])
    var next = 0
    var position = 0
    for (index, content) in contents.enumerated() {
      page.chunks.append(record(index, content.count))
      position += content.count
      while next < members.count, members[next].end <= position {
        page.members.append(members[next].record)
        next += 1
      }
      let isOpen = next < members.count && members[next].offset < position
      if isOpen ? choices.chance(oneIn: 4) : !choices.chance(oneIn: 4) || index + 1 == contents.count {
        pages.append(page)
        page = IndexPage(openByteCount: isOpen ? UInt64(position - members[next].offset) : 0, chunks: [], members: [])
      }
    }
    return pages + [IndexPage.end(chunk: record(frames.count - 1, RawTar.end.count))]
  }

  private static func assemble(
    _ pages: [IndexPage], _ frames: [[UInt8]], payloadLies: inout Int, _ choices: inout Choices
  ) throws(FormatError) -> [UInt8] {
    let settings = ArchiveSettings(
      chunkByteCount: choices.pick([65536, 1 << 20]), level: 1, zstdVersion: 10504)
    var opening = Manifest()
    if choices.chance(oneIn: 4) { opening.pairs = [Manifest.Pair(key: "k", value: "v")] }
    var index = try IndexAccumulator(settings: settings, opening: opening)
    var out: [UInt8] = []
    var frame = 0
    for page in pages {
      for _ in page.chunks {
        out += frames[frame]
        if frame == 0 { out += index.preambleFrame }
        frame += 1
      }
      var payload = try page.encoded()
      let byteCount = payload.count
      if payloadLies > 0 {
        payloadLies -= 1
        payload[choices.below(65536) % byteCount] ^= choices.byte()
      }
      let compressed = Zstd.frame(payload)
      let stored = try PageFrame.wrap(compressed: compressed.span, decodedByteCount: byteCount)
      out += stored
      try index.add(try PageSummary(page: page, frame: stored.span))
    }
    for frame in try index.finish(closing: Manifest()) { out += frame }
    return out
  }
}
