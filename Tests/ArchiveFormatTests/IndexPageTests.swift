import ArchiveFormat
import Testing

@Suite struct IndexPageTests {
  @Test func roundTripsAndOneFormOnly() throws {
    for seed in 0..<1500 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let page = PageFactory.page(&random)
      guard page.chunks.count <= IndexLimits.pageChunkCount else { continue }
      let bytes = try page.encoded()
      let decoded = try IndexPage(decoding: bytes.span)
      #expect(decoded == page, "seed \(seed)")
      #expect(try decoded.encoded() == bytes, "seed \(seed)")
    }
  }

  @Test func truncationAtEveryByteThrows() throws {
    for seed in 0..<40 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let bytes = try PageFactory.page(&random).encoded()
      for count in 0..<bytes.count {
        #expect(throws: FormatError.self, "seed \(seed), \(count) of \(bytes.count)") {
          try IndexPage(decoding: bytes.span.extracting(0..<count))
        }
      }
      #expect(throws: FormatError.self) { try decodePage((bytes + [0])) }
    }
  }

  /// Whatever is accepted has exactly the bytes it was read from, so no flip goes unnoticed.
  @Test func everyBitFlipIsRejectedOrChangesTheValue() throws {
    var accepted = 0
    for seed in 100..<160 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let page = PageFactory.page(&random, maximumMembers: 6)
      let bytes = try page.encoded()
      for bit in 0..<(bytes.count * 8) {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let found = try? IndexPage(decoding: damaged.span) else { continue }
        accepted += 1
        #expect(found != page, "seed \(seed), bit \(bit)")
        #expect(try found.encoded() == damaged, "seed \(seed), bit \(bit)")
      }
    }
    #expect(accepted > 0)
  }

  /// Random bytes in random places: never a trap, and only canonical forms.
  @Test func mutatedPagesNeverTrap() throws {
    for seed in 1000..<5000 as Range<UInt64> {
      var random = SeededGenerator(seed)
      var bytes = try PageFactory.page(&random, maximumMembers: 5).encoded()
      for _ in 0...random.below(4) {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = [0, 0x7F, 0x80, 0xFF][random.below(4)]
        case 1: bytes.insert(UInt8(random.below(256)), at: place)
        default: if bytes.count > 1 { bytes.remove(at: place) }
        }
      }
      guard let found = try? IndexPage(decoding: bytes.span) else { continue }
      #expect(try found.encoded() == bytes, "seed \(seed)")
    }
  }

  @Test func positionsFollowFromSizes() throws {
    let chunk = ChunkRecord(storedByteCount: 10, contentByteCount: 4096, storedHash: 1, isStored: false)
    var file = Member(path: Array("a".utf8), kind: .file)
    file.byteCount = 5000
    let hash = Hash128(high: 1, low: 2)
    let large = IndexedMember(member: file, headerByteCount: 512, contentHash: hash)
    file.byteCount = 1
    let small = IndexedMember(member: file, headerByteCount: 1024, contentHash: hash)
    #expect(large.tarByteCount == 5632)
    let first = IndexPage(chunks: [chunk], members: [])
    #expect(first.tailByteCount == 4096)
    let second = IndexPage(openByteCount: 4096, chunks: [chunk], members: [large, small])
    #expect(second.headerOffsets == [-4096, 1536])
    #expect(second.tailByteCount == 4096 + 4096 - 5632 - 1536)
    #expect(try roundTrip(second) == second)
    let end = IndexPage.end(
      chunk: ChunkRecord(storedByteCount: 20, contentByteCount: 1024, storedHash: 0, isStored: false))
    #expect(end.tailByteCount == 0)
    #expect(try roundTrip(end) == end)
    // A member that ends before its page, one that ends behind it, an end page with another content.
    #expect(
      failure { () throws(FormatError) in
        try IndexPage(openByteCount: 5632, chunks: [chunk], members: [large]).encoded()
      }?.code == .malformed)
    #expect(
      failure { () throws(FormatError) in
        try IndexPage(openByteCount: 1000, chunks: [chunk], members: [large]).encoded()
      }?.code == .malformed)
    #expect(failure { () throws(FormatError) in try IndexPage.end(chunk: chunk).encoded() }?.code == .malformed)
    #expect(failure { () throws(FormatError) in try IndexPage(chunks: [], members: []).encoded() }?.code == .malformed)
  }

  @Test func everyRuleIsChecked() throws {
    let chunk = ChunkRecord(storedByteCount: 10, contentByteCount: 8192, storedHash: 1, isStored: false)
    let hash = Hash128(high: 1, low: 2)
    let good = IndexedMember(member: Member(path: [0x61], kind: .file), headerByteCount: 512, contentHash: hash)
    func code(_ change: (inout IndexedMember) -> Void) -> FormatError.Code? {
      var record = good
      change(&record)
      return failure { () throws(FormatError) in try IndexPage(chunks: [chunk], members: [record]).encoded() }?.code
    }
    #expect(code { _ in } == nil)
    for path in ["", "/", "/a", "a/", "a//b", "..", "a/..", "../a", "a/./b", "./a", "a\0b", "a/../b"] {
      #expect(code { $0.member.path = Array(path.utf8) } == .malformed, "\(path)")
    }
    for path in [".", "...", "a/...", ".a", "a/.b", "..a/b..", "a b", "\u{e9}"] {
      #expect(code { $0.member.path = Array(path.utf8) } == nil, "\(path)")
    }
    #expect(code { $0.member.path = [UInt8](repeating: 0x61, count: 513) } == .malformed)
    #expect(code { $0.member.path = [UInt8](repeating: 0x61, count: 512) } == nil)
    #expect(code { $0.member.mode = 0o10000 } == .malformed)
    #expect(code { $0.member.modificationTime.nanoseconds = 1_000_000_000 } == .malformed)
    #expect(code { $0.headerByteCount = 0 } == .malformed)
    #expect(code { $0.headerByteCount = 513 } == .malformed)
    #expect(code { $0.headerByteCount = 1 << 27 } == .limitExceeded)
    #expect(code { $0.contentHash = nil } == .malformed)
    #expect(code { $0.member.byteCount = 1 << 61 } == .limitExceeded)
    #expect(code { $0.member.linkTarget = [0x61] } == .malformed)
    #expect(code { $0.member.deviceMinor = 1 } == .malformed)
    #expect(code { $0.member.userName = [0] } == .malformed)
    #expect(code { $0.member.kind = .directory } == .malformed)
    #expect(
      code {
        $0.member.kind = .directory; $0.contentHash = nil
      } == nil)
    #expect(
      code {
        $0.member.kind = .directory; $0.contentHash = nil; $0.isIncomplete = true
      } == .malformed)
    #expect(
      code {
        $0.member.kind = .symlink; $0.contentHash = nil
      } == .malformed)
    #expect(
      code {
        $0.member.kind = .hardlink; $0.contentHash = nil; $0.member.linkTarget = Array("/x".utf8)
      } == .malformed)
    let attribute = ExtendedAttribute(name: Array("user.a".utf8), value: [])
    #expect(code { $0.member.extendedAttributes = [attribute] } == nil)
    #expect(code { $0.member.extendedAttributes = [attribute, attribute] } == .malformed)
    #expect(code { $0.member.extendedAttributes = [ExtendedAttribute(name: [], value: [])] } == .malformed)
    let big = ExtendedAttribute(name: [1], value: [UInt8](repeating: 0, count: IndexLimits.attributeByteCount))
    #expect(code { $0.member.extendedAttributes = [big] } == .limitExceeded)
    for size in [0, 1, IndexLimits.chunkContentByteCount, IndexLimits.chunkContentByteCount + 1] {
      var other = chunk
      other.contentByteCount = UInt32(size)
      let chunks = [chunk, other]
      let found = failure { () throws(FormatError) in try IndexPage(chunks: chunks, members: [good]).encoded() }
      let isRight = (1...IndexLimits.chunkContentByteCount).contains(size)
      #expect(found?.code == (isRight ? nil : .limitExceeded), "\(size)")
    }
    func extents(_ list: [(UInt64, UInt64)]) -> FormatError.Code? {
      code {
        $0.member.byteCount = 100
        $0.member.sparseExtents = list.map { SparseExtent(offset: $0.0, byteCount: $0.1) }
      }
    }
    #expect(extents([]) == nil)
    #expect(extents([(0, 10), (10, 90)]) == nil)
    #expect(extents([(0, 10), (9, 1)]) == .malformed)
    #expect(extents([(0, 0)]) == .malformed)
    #expect(extents([(99, 2)]) == .malformed)
    #expect(extents([(101, 1)]) == .malformed)
    #expect(extents([(1, .max)]) == .malformed)
  }

  /// A hole that reaches the end of the file leaves no room for the data behind it.
  @Test func holesUpToTheEnd() throws {
    let chunk = ChunkRecord(storedByteCount: 10, contentByteCount: 8192, storedHash: 1, isStored: false)
    var member = Member(path: [0x61], kind: .file)
    member.byteCount = 100
    member.sparseExtents = [SparseExtent(offset: 99, byteCount: 1)]
    let record = IndexedMember(member: member, headerByteCount: 512, contentHash: Hash128(high: 1, low: 2))
    var bytes = try IndexPage(chunks: [chunk], members: [record]).encoded()
    // Behind the hole stand the size of the data, the hash of the chunk and that of the content.
    let place = bytes.count - 26
    #expect(bytes[place] == 99)
    for (hole, code) in [(98, nil), (99, nil), (100, .malformed), (101, .limitExceeded)]
      as [(UInt8, FormatError.Code?)]
    {
      bytes[place] = hole
      #expect(failure { () throws(FormatError) in try decodePage(bytes) }?.code == code, "\(hole)")
    }
  }

  @Test func announcedCountsAreCheckedBeforeMemory() throws {
    // Flags, open bytes, one chunk; then 65,536 members without their bytes.
    let chunk: [UInt8] = [0, 0, 1, 10, 0x80, 0x20, 0]
    #expect(
      failure { () throws(FormatError) in try decodePage((chunk + [0x80, 0x80, 0x04])) }?.code
        == .truncated)
    #expect(
      failure { () throws(FormatError) in try decodePage((chunk + [0x81, 0x80, 0x04])) }?.code != nil)
    // Numbers that are not in their shortest form, or too long.
    #expect(failure { () throws(FormatError) in try decodePage([0, 0x80, 0x00]) }?.code == .malformed)
    let long = [0] + [UInt8](repeating: 0xFF, count: 10)
    #expect(failure { () throws(FormatError) in try IndexPage(decoding: long.span) }?.code == .malformed)
    #expect(failure { () throws(FormatError) in try decodePage([2]) }?.code == .malformed)
  }

  @Test func sparseHashPrefixIsTheExtentMap() {
    let prefix = IndexedMember.sparseHashPrefix(extents: [SparseExtent(offset: 256, byteCount: 1)], byteCount: 1 << 40)
    #expect(prefix == [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0])
  }

  @Test func largePageIsCompactAndQuick() throws {
    var random = SeededGenerator(7)
    var page = IndexPage(
      chunks: [ChunkRecord(storedByteCount: 1000, contentByteCount: 64 << 20, storedHash: 3, isStored: false)],
      members: [])
    for index in 0..<8192 {
      var member = Member(
        path: Array("linux/drivers/net/ethernet/vendor\(index / 40)/file\(index).c".utf8), kind: .file)
      member.byteCount = 1
      let hash = Hash128(high: random.next(), low: random.next())
      page.members.append(IndexedMember(member: member, headerByteCount: 512, contentHash: hash))
    }
    let clock = ContinuousClock()
    var bytes: [UInt8] = []
    let encoding = try clock.measure { bytes = try page.encoded() }
    var decoded: IndexPage?
    let decoding = try clock.measure { decoded = try IndexPage(decoding: bytes.span) }
    #expect(decoded == page)
    print("8192 members: \(bytes.count) bytes, encoded in \(encoding), decoded in \(decoding)")
    #expect(bytes.count < 8192 * 40)
  }
}
