import ArchiveFormat

/// SplitMix64: the seed of a failed case is in the message of its expectation.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
  mutating func bytes(_ count: Int, from low: UInt8 = 0) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: low...255, using: &self) }
  }
  /// A number of any magnitude up to the limit.
  mutating func magnitude(_ limit: UInt64) -> UInt64 {
    if chance(16) { return limit }
    return min(limit, next() >> UInt64(below(64)))
  }
}

/// Pages of random content that obey all rules.
enum PageFactory {
  static func member(_ random: inout SeededGenerator) -> IndexedMember {
    let kind = MemberKind.allCases[random.chance(2) ? 0 : random.below(7)]
    var path = Array("dir\(random.below(3))/sub".utf8) + random.bytes(random.below(20), from: 0x30)
    if path.last == 0x2F { path.append(0x61) }
    if random.chance(20) { path = [0x2E] }
    var member = Member(path: path, kind: kind, mode: UInt32(random.below(0o10000)))
    member.userID = random.magnitude(.max)
    member.groupID = UInt64(random.below(3))
    if random.chance(2) { member.userName = Array("user\(random.below(2))".utf8) }
    if random.chance(2) { member.groupName = random.bytes(random.below(4), from: 1) }
    member.modificationTime = Timestamp(
      seconds: random.chance(10) ? [Int64.min, .max, -1][random.below(3)] : Int64(random.below(1 << 33)),
      nanoseconds: random.chance(2) ? 0 : UInt32(random.below(1_000_000_000)))
    if kind == .symlink { member.linkTarget = random.bytes(1 + random.below(9), from: 1) }
    if kind == .hardlink { member.linkTarget = Array("dir/target\(random.below(5))".utf8) }
    if kind == .characterDevice || kind == .blockDevice {
      member.deviceMajor = UInt32(random.magnitude(UInt64(UInt32.max)))
      member.deviceMinor = UInt32(random.magnitude(UInt64(UInt32.max)))
    }
    if random.chance(4) {
      member.extendedAttributes = (0...random.below(3)).map {
        ExtendedAttribute(name: Array("user.\($0)".utf8), value: random.bytes(random.below(3)))
      }
    }
    if random.chance(8) { member.accessACL = Array("user::rw-".utf8) }
    if random.chance(8) { member.defaultACL = Array("user::rwx".utf8) }
    var record = IndexedMember(member: member, headerByteCount: UInt64(1 + random.below(4)) * 512)
    if kind == .file {
      record.member.byteCount = UInt64(random.below(5000))
      if random.chance(4) { sparse(&record.member, &random) }
      record.contentHash = Hash128(high: random.next(), low: random.next())
      record.isIncomplete = random.chance(8)
    }
    return record
  }

  static func sparse(_ member: inout Member, _ random: inout SeededGenerator) {
    var extents: [SparseExtent] = []
    var position: UInt64 = 0
    for _ in 0..<random.below(4) {
      let extent = SparseExtent(offset: position + random.next() >> 30, byteCount: 1 + random.next() >> 55)
      extents.append(extent)
      position = extent.offset + extent.byteCount
    }
    member.sparseExtents = extents
    member.byteCount = position + random.next() >> 40
  }

  static func page(_ random: inout SeededGenerator, maximumMembers: Int = 12, open: UInt64? = nil) -> IndexPage {
    var page = IndexPage(chunks: [], members: (0..<random.below(maximumMembers + 1)).map { _ in member(&random) })
    page.openByteCount = open ?? (random.chance(2) ? 0 : random.magnitude(1 << 40))
    // The first member ends in the page, and it has begun before it when bytes of it are open.
    if let first = page.members.first, first.tarByteCount <= page.openByteCount {
      page.openByteCount = open == nil ? first.tarByteCount - 1 : page.openByteCount
    }
    let total = page.members.reduce(0) { $0 + $1.tarByteCount }
    let needed = total > page.openByteCount ? total - page.openByteCount : 1
    var rest = needed + (random.chance(2) ? 0 : UInt64(random.below(100_000)))
    while rest > 0 {
      let count = min(rest, random.chance(3) ? 1000 : 64 << 20)
      page.chunks.append(
        ChunkRecord(
          storedByteCount: UInt32(1 + random.below(Int(count) + 20)), contentByteCount: UInt32(count),
          storedHash: random.next(), isStored: random.chance(3)))
      rest -= count
    }
    return page
  }
}

/// The error that an expression throws.
func failure<Value>(_ body: () throws(FormatError) -> Value) -> FormatError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

/// Sizes and hashes of frames, outside of macros: a span must not leave its expression.
func hash64(_ bytes: [UInt8]) -> UInt64 { XXH3.hash64(bytes.span) }
func nameHash(_ path: [UInt8]) -> UInt64 { NameFilter.hash(path.span) }
func mayContain(_ hash: UInt64, _ filter: [UInt8]) -> Bool { NameFilter.mayContain(hash, filter: filter.span) }
func mayBeAt(_ page: Int, _ path: [UInt8], _ directory: PageDirectory) -> Bool {
  directory.candidates(nameHash: nameHash(path)).contains(page)
}

/// A summary whose frame is the page without compression.
func summary(_ page: IndexPage) throws -> PageSummary {
  let frame = try page.encoded()
  return try PageSummary(page: page, frame: frame.span)
}

/// A span of a temporary array must not be taken within a larger expression (the compiler fails on it).
func decodePage(_ bytes: [UInt8]) throws(FormatError) -> IndexPage { try IndexPage(decoding: bytes.span) }
func roundTrip(_ page: IndexPage) throws -> IndexPage { try decodePage(page.encoded()) }
func roundTrip(_ preamble: Preamble) throws -> Preamble {
  let frame = try preamble.encodedFrame()
  return try Preamble(decodingFrame: frame.span)
}
func parseSeekTable(_ bytes: [UInt8]) throws(FormatError) -> [SeekTable.Entry] { try SeekTable.parse(bytes.span) }
func parseStart(_ bytes: [UInt8], at offset: Int = 0) throws(FormatError) -> ZstdFraming.FrameStart? {
  try ZstdFraming.parseStart(bytes.span, at: offset)
}
func identify(_ bytes: [UInt8]) -> FileSignature { FileSignature.identify(bytes.span) }
