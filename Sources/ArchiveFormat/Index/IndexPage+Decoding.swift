extension IndexPage {
  /// Reads a decoded payload and accepts its canonical form only.
  ///
  /// - Parameters:
  ///   - bytes: the payload, decompressed.
  ///   - memoryByteCount: what the page may take in memory, the payload not counted.
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, where possible with the offset in the payload.
  public init(decoding bytes: Span<UInt8>, memoryByteCount: Int = .max) throws(FormatError) {
    var memory = PageMemory(memoryByteCount)
    try self.init(decoding: bytes, &memory)
  }

  /// The same; `memory` tells what was taken.
  package init(decoding bytes: Span<UInt8>, _ memory: inout PageMemory) throws(FormatError) {
    guard bytes.count <= IndexLimits.pageByteCount else {
      throw FormatError(.limitExceeded, "page of \(bytes.count) bytes, more than \(IndexLimits.pageByteCount)")
    }
    var cursor = IndexCursor(0..<bytes.count)
    let flags = try cursor.byte(bytes)
    guard flags <= 1 else { throw cursor.failure(.malformed, "unknown page flags \(flags)") }
    let open = try cursor.varint(bytes, upTo: IndexLimits.openByteCount, "open bytes")
    self.init(openByteCount: open, isEnd: flags == 1, chunks: try Self.decodeChunks(bytes, &cursor), members: [])
    let count = try cursor.count(bytes, upTo: IndexLimits.pageMemberCount, minimumByteCount: 8, "members")
    try memory.take(count * MemoryLayout<IndexedMember>.stride)
    try decodeNames(bytes, &cursor, count, &memory)
    try decodeOwners(bytes, &cursor, &memory)
    try decodeTimesAndSizes(bytes, &cursor)
    try decodeDevices(bytes, &cursor)
    try decodeAttributes(bytes, &cursor, &memory)
    try decodeExtents(bytes, &cursor, &memory)
    for index in chunks.indices { chunks[index].storedHash = try cursor.littleEndian(bytes, as: UInt64.self) }
    for index in members.indices where members[index].member.kind == .file {
      let high = try cursor.littleEndian(bytes, as: UInt64.self).byteSwapped
      members[index].contentHash = Hash128(high: high, low: try cursor.littleEndian(bytes, as: UInt64.self).byteSwapped)
    }
    try cursor.finish()
    try validate()
  }

  private static func decodeChunks(
    _ bytes: Span<UInt8>, _ cursor: inout IndexCursor
  ) throws(FormatError) -> [ChunkRecord] {
    let count = try cursor.count(bytes, upTo: IndexLimits.pageChunkCount, minimumByteCount: 10, "chunks")
    var chunks: [ChunkRecord] = []
    chunks.reserveCapacity(count)
    for _ in 0..<count {
      let stored = try cursor.varint(bytes, upTo: UInt64(IndexLimits.chunkStoredByteCount), "stored size of a chunk")
      chunks.append(
        ChunkRecord(storedByteCount: UInt32(stored), contentByteCount: 0, storedHash: 0, isStored: false))
    }
    for index in 0..<count {
      let limit = UInt64(IndexLimits.chunkContentByteCount)
      chunks[index].contentByteCount = UInt32(try cursor.varint(bytes, upTo: limit, "content size of a chunk"))
    }
    let bits = try cursor.take((count + 7) / 8)
    for index in 0..<(bits.count * 8) where bytes[bits.lowerBound + index / 8] >> UInt8(index % 8) & 1 == 1 {
      guard index < count else { throw cursor.failure(.malformed, "bits of chunks that are not there") }
      chunks[index].isStored = true
    }
    return chunks
  }

  private mutating func decodeNames(
    _ bytes: Span<UInt8>, _ cursor: inout IndexCursor, _ count: Int, _ memory: inout PageMemory
  ) throws(FormatError) {
    members.reserveCapacity(count)
    let tags = try cursor.take(count)
    var linkCount = 0
    for index in tags {
      guard bytes[index] & ~Tag.known == 0, let kind = MemberKind(rawValue: bytes[index] & Tag.kindMask) else {
        throw FormatError(.malformed, "unknown member kind or flag \(bytes[index])", offset: UInt64(index))
      }
      guard kind == .file || bytes[index] & (Tag.incomplete | Tag.sparse) == 0 else {
        throw FormatError(.malformed, "file flag of a member that is not a file", offset: UInt64(index))
      }
      var member = Member(path: [], kind: kind)
      if bytes[index] & Tag.sparse != 0 { member.sparseExtents = [] }
      // A mark that decodeAttributes takes away: the attributes stand behind other columns.
      if bytes[index] & Tag.attributes != 0 { member.accessACL = [0] }
      members.append(
        IndexedMember(member: member, headerByteCount: 0, isIncomplete: bytes[index] & Tag.incomplete != 0))
      if kind.isLink { linkCount += 1 }
      if kind.isLink || kind.isDevice || bytes[index] & (Tag.sparse | Tag.attributes) != 0 {
        try memory.take(Member.rareByteCount)
      }
    }
    var budget = IndexLimits.pageByteCount
    let names = try FrontCoding.decode(bytes, &cursor, count: count, budget: &budget, memory: &memory, "paths")
    for index in members.indices { members[index].member.path = names[index] }
    for index in members.indices { members[index].member.mode = UInt32(try cursor.varint(bytes, upTo: 0o7777, "mode")) }
    let targets = try FrontCoding.decode(
      bytes, &cursor, count: linkCount, budget: &budget, memory: &memory, "link targets")
    var next = 0
    for index in members.indices where members[index].member.kind.isLink {
      members[index].member.linkTarget = targets[next]
      next += 1
    }
  }

  private mutating func decodeOwners(
    _ bytes: Span<UInt8>, _ cursor: inout IndexCursor, _ memory: inout PageMemory
  ) throws(FormatError) {
    let limit = IndexLimits.attributeByteCount
    var owners: [Member] = []
    var distinct = DistinctEntries()
    let count = try cursor.count(bytes, upTo: members.count, minimumByteCount: 4, "owners")
    for _ in 0..<count {
      let start = cursor.offset
      var owner = Member(path: [], kind: .file)
      owner.userID = try cursor.varint(bytes, "user id")
      owner.groupID = try cursor.varint(bytes, "group id")
      let user = try cursor.string(bytes, upTo: limit, "user name")
      owner.ownerNames = SharedValue(
        MemberOwnerNames(user: user, group: try cursor.string(bytes, upTo: limit, "group name")))
      try memory.take(MemoryLayout<Member>.stride + SharedValue<MemberOwnerNames>.byteCount)
      owners.append(owner)
      try distinct.add(bytes, start..<cursor.offset, &memory)
    }
    var used = 0
    for index in members.indices {
      let entry = try distinct.index(bytes, &cursor, &used)
      members[index].member.userID = owners[entry].userID
      members[index].member.groupID = owners[entry].groupID
      members[index].member.ownerNames = owners[entry].ownerNames
    }
    try distinct.finish(cursor, used)
  }

  private mutating func decodeTimesAndSizes(_ bytes: Span<UInt8>, _ cursor: inout IndexCursor) throws(FormatError) {
    var seconds: Int64 = 0
    for index in members.indices {
      seconds &+= Int64(zigzag: try cursor.varint(bytes, "modification time"))
      members[index].member.modificationTime.seconds = seconds
    }
    for index in members.indices {
      let nanoseconds = try cursor.varint(bytes, upTo: 999_999_999, "nanoseconds")
      members[index].member.modificationTime.nanoseconds = UInt32(nanoseconds)
    }
    for index in members.indices {
      let blocks = try cursor.varint(bytes, upTo: IndexLimits.headerByteCount / 512 - 1, "header blocks")
      members[index].headerByteCount = (blocks + 1) * 512
    }
    for index in members.indices where members[index].member.kind == .file {
      members[index].member.byteCount = try cursor.varint(bytes, upTo: IndexLimits.fileByteCount, "file size")
    }
  }

  private mutating func decodeDevices(_ bytes: Span<UInt8>, _ cursor: inout IndexCursor) throws(FormatError) {
    for index in members.indices where members[index].member.kind.isDevice {
      let limit = UInt64(UInt32.max)
      members[index].member.deviceMajor = UInt32(try cursor.varint(bytes, upTo: limit, "device major"))
      members[index].member.deviceMinor = UInt32(try cursor.varint(bytes, upTo: limit, "device minor"))
    }
  }

  private mutating func decodeAttributes(
    _ bytes: Span<UInt8>, _ cursor: inout IndexCursor, _ memory: inout PageMemory
  ) throws(FormatError) {
    let limit = IndexLimits.attributeByteCount
    var sets: [Member] = []
    var distinct = DistinctEntries()
    var budget = IndexLimits.pageAttributeCount
    let count = try cursor.count(bytes, upTo: members.count, minimumByteCount: 3, "attribute sets")
    for _ in 0..<count {
      let start = cursor.offset
      var set = Member(path: [], kind: .file)
      let most = min(budget, IndexLimits.attributeCount)
      let attributes = try cursor.count(bytes, upTo: most, minimumByteCount: 2, "attributes")
      budget -= attributes
      try memory.take(MemoryLayout<Member>.stride + attributes * MemoryLayout<ExtendedAttribute>.stride)
      for _ in 0..<attributes {
        let name = try cursor.string(bytes, upTo: limit, "attribute name")
        let value = try cursor.string(bytes, upTo: limit, "attribute value")
        try memory.takeString(name.count)
        try memory.takeString(value.count)
        set.extendedAttributes.append(ExtendedAttribute(name: name, value: value))
      }
      set.accessACL = try cursor.string(bytes, upTo: limit, "access ACL")
      set.defaultACL = try cursor.string(bytes, upTo: limit, "default ACL")
      guard set.hasAttributes else { throw cursor.failure(.malformed, "empty attribute set") }
      sets.append(set)
      try distinct.add(bytes, start..<cursor.offset, &memory)
    }
    var used = 0
    for index in members.indices where members[index].member.hasRareMetadata && !members[index].member.accessACL.isEmpty
    {
      let entry = try distinct.index(bytes, &cursor, &used)
      members[index].member.extendedAttributes = sets[entry].extendedAttributes
      members[index].member.accessACL = sets[entry].accessACL
      members[index].member.defaultACL = sets[entry].defaultACL
    }
    try distinct.finish(cursor, used)
  }

  private mutating func decodeExtents(
    _ bytes: Span<UInt8>, _ cursor: inout IndexCursor, _ memory: inout PageMemory
  ) throws(FormatError) {
    var counts: [Int] = []
    var budget = IndexLimits.pageExtentCount
    for index in members.indices where members[index].member.sparseExtents != nil {
      let count = try cursor.count(bytes, upTo: min(budget, IndexLimits.extentCount), "sparse extents")
      budget -= count
      try memory.take(count * MemoryLayout<SparseExtent>.stride)
      counts.append(count)
    }
    var next = 0
    for index in members.indices where members[index].member.sparseExtents != nil {
      var extents: [SparseExtent] = []
      var position: UInt64 = 0
      let size = members[index].member.byteCount
      for _ in 0..<counts[next] {
        let gap = try cursor.varint(bytes, upTo: size - position, "hole")
        guard gap < size - position else { throw cursor.failure(.malformed, "sparse extent behind the file's end") }
        let count = try cursor.varint(bytes, upTo: size - position - gap - 1, "sparse extent") + 1
        extents.append(SparseExtent(offset: position + gap, byteCount: count))
        position += gap + count
      }
      members[index].member.sparseExtents = extents
      next += 1
    }
  }
}

/// Checks a table of entries: all distinct, all used, in the order of their first use.
private struct DistinctEntries {
  private var entries: Set<[UInt8]> = []

  mutating func add(_ bytes: Span<UInt8>, _ range: Range<Int>, _ memory: inout PageMemory) throws(FormatError) {
    // The set's own slot, and what its growth leaves unused.
    try memory.take(32)
    try memory.takeString(range.count)
    guard entries.insert([UInt8](copying: bytes, range)).inserted else {
      throw FormatError(.malformed, "entry that occurs twice in a table", offset: UInt64(range.lowerBound))
    }
  }

  func index(_ bytes: Span<UInt8>, _ cursor: inout IndexCursor, _ used: inout Int) throws(FormatError) -> Int {
    let index = Int(try cursor.varint(bytes, upTo: UInt64(IndexLimits.pageMemberCount), "table index"))
    guard index < entries.count, index <= used else {
      throw cursor.failure(.malformed, "table index \(index) out of order or range")
    }
    if index == used { used += 1 }
    return index
  }

  func finish(_ cursor: IndexCursor, _ used: Int) throws(FormatError) {
    guard used == entries.count else { throw cursor.failure(.malformed, "table entry that is not used") }
  }
}
