import Testing

@testable import ArchiveFormat

/// What headers and pages may take in memory, whatever they repeat.
@Suite struct MemoryBoundTests {
  /// Any number of extended headers may stand before a member; what is said of them does not grow.
  @Test(arguments: [false, true]) func notesOfRepeatedHeadersAreFew(isLenient: Bool) throws {
    var parser = TarParser(isLenient: isLenient)
    var stream: [UInt8] = []
    for number in 0..<300 {
      // A time beyond all, and records that no global header may have: notes of a lenient reader.
      stream += RawTar.pax(["mtime": "99999999999999999999"], type: "g")
      stream += RawTar.pax(["size": "\(number)"], type: "g")
      stream += RawTar.entry("x", type: "x") + RawTar.entry("a", type: "A")
    }
    stream += RawTar.entry("file")
    let (_, event) = try parser.consume(stream.span, in: 0..<stream.count)
    switch event {
    case .member(let member):
      #expect(isLenient && (3...16).contains(member.notes.count), "\(member.notes)")
      #expect(Set(member.notes).count == member.notes.count)
    case .rejected: #expect(!isLenient)
    default: Issue.record("\(String(describing: event))")
    }
  }

  /// Sentences that all differ come to an end too, and the last says that there would be more.
  @Test func notesThatDifferAreFew() {
    var notes = TarNotes()
    for number in 0..<1000 { notes.append("\(number)") }
    #expect(notes.sentences.count == TarLimits.maximumNoteCount)
    #expect(notes.sentences.last == "more about it is odd and not listed")
    #expect(notes.sentences.dropLast() == (0..<TarLimits.maximumNoteCount - 1).map { "\($0)" }[...])
  }

  /// With what a page takes it is read, with a byte less it is refused; whatever it holds.
  @Test(arguments: 0..<60 as Range<UInt64>) func pagesStayWithinTheirMemory(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let payload = try PageFactory.page(&random).encoded()
    var memory = PageMemory(.max)
    let page = try IndexPage(decoding: payload.span, &memory)
    #expect(memory.used > 0 || page.members.isEmpty, "seed \(seed)")
    #expect(memory.used >= page.members.reduce(0) { $0 + $1.member.path.count + $1.member.linkTarget.count })
    #expect(try IndexPage(decoding: payload.span, memoryByteCount: memory.used) == page, "seed \(seed)")
    guard memory.used > 0 else { return }
    let error = #expect(throws: FormatError.self) {
      try IndexPage(decoding: payload.span, memoryByteCount: memory.used - 1)
    }
    #expect(error?.code == .limitExceeded, "seed \(seed)")
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func varint(_ value: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: UInt64(value))
    return bytes
  }

  /// A page up to its number of members, and the tags of these.
  private static func page(_ count: Int, tag: UInt8 = 0) -> [UInt8] {
    [0, 0, 1, 1, 1, 0] + varint(count) + [UInt8](repeating: tag, count: count)
  }

  /// Columns of members without a name, up to the number of sets of attributes.
  private static func columns(_ count: Int, isFile: Bool) -> [UInt8] {
    // Names, modes; an owner; owners, seconds, nanoseconds, header blocks and sizes.
    zeros(3 * count) + [1, 0, 0, 0, 0] + zeros((isFile ? 5 : 4) * count)
  }

  /// As many attributes as a set may have, and something that tells the set from others.
  private static func attributes(_ number: Int) -> [UInt8] {
    varint(IndexLimits.attributeCount) + zeros(2 * IndexLimits.attributeCount) + [0, 1, UInt8(number)]
  }

  /// What the parts of a page add up to is bounded before the page is decoded.
  @Test func announcedSumsAreRefusedFirst() {
    let (nameCount, name, most) = (20, 4 << 20, IndexLimits.extentCount)
    let rows: [(what: String, code: FormatError.Code, payload: [UInt8])] = [
      ("members that do not follow", .truncated, [0, 0, 1, 1, 1, 0] + Self.varint(65_536) + Self.zeros(99)),
      ("members", .limitExceeded, Self.page(65_537) + Self.zeros(8 * 65_537)),
      (
        "names", .limitExceeded,
        Self.page(nameCount) + [0] + (1..<nameCount).flatMap { _ in Self.varint(name) } + Self.varint(name)
          + Self.zeros(nameCount - 1) + [UInt8](repeating: 0x61, count: name)
      ),
      (
        "attributes", .limitExceeded,
        Self.page(17, tag: 1) + Self.columns(17, isFile: false) + [17] + (0..<16).flatMap { Self.attributes($0) }
          + [1, 0, 0, 0, 1, 16]
      ),
      (
        "extents", .limitExceeded,
        Self.page(3, tag: 0x10) + Self.columns(3, isFile: true) + [0] + Self.varint(most) + Self.varint(most) + [1]
          + Self.zeros(most)
      ),
    ]
    for (what, code, payload) in rows {
      var memory = PageMemory(.max)
      let error = #expect(throws: FormatError.self, "\(what)") { try IndexPage(decoding: payload.span, &memory) }
      #expect(error?.code == code, "\(what): \(String(describing: error))")
      #expect(memory.used <= (code == .truncated ? 0 : IndexLimits.pageByteCount + (1 << 20)), "\(what)")
    }
  }

  /// Sums of what archives state stay at the largest number there is.
  @Test func sumsDoNotOverflow() {
    var sum: UInt64 = .max - 1
    for expected in [UInt64.max, .max] {
      sum.add(clamping: 1)
      #expect(sum == expected)
    }
  }

  /// A member's digest tells all fields apart.
  @Test func digestsTellMembersApart() {
    var random = SeededGenerator(1)
    let changes: [(inout Member) -> Void] = [
      { $0.path.append(0x61) }, { $0.mode ^= 1 }, { $0.userID ^= 1 }, { $0.groupID ^= 1 }, { $0.userName.append(1) },
      { $0.groupName.append(1) }, { $0.modificationTime.seconds ^= 1 }, { $0.modificationTime.nanoseconds ^= 1 },
      { $0.byteCount ^= 1 }, { $0.linkTarget.append(1) }, { $0.deviceMajor ^= 1 }, { $0.deviceMinor ^= 1 },
      { $0.extendedAttributes.append(ExtendedAttribute(name: [1], value: [])) }, { $0.accessACL.append(1) },
      { $0.defaultACL.append(1) }, { $0.kind = $0.kind == .file ? .fifo : .file },
      { $0.sparseExtents = ($0.sparseExtents ?? []) + [SparseExtent(offset: 1, byteCount: 1)] },
      { $0.sparseExtents = $0.sparseExtents == nil ? [] : nil },
      { ($0.userName, $0.groupName) = ($0.userName + $0.groupName + [2], []) },
      { $0.extendedAttributes.append(ExtendedAttribute(name: [], value: [1])) },
    ]
    for _ in 0..<50 {
      let member = PageFactory.member(&random).member
      var digests: Set<Hash128> = [member.digest]
      for change in changes {
        var other = member
        change(&other)
        digests.insert(other.digest)
      }
      #expect(digests.count == changes.count + 1)
      #expect(member.memoryByteCount >= member.path.count + member.linkTarget.count)
    }
  }
}
