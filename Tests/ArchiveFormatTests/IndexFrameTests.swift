import ArchiveFormat
import Testing

@Suite struct IndexFrameTests {
  static let settings = ArchiveSettings(chunkByteCount: 4 << 20, level: 3, zstdVersion: 10504)
  static let opening = Manifest([.init(key: "app", value: "Notes"), .init(key: "empty", value: "")])

  /// Every flip of a frame is rejected; every truncation too.
  func checkDamage<Value>(_ frame: [UInt8], _ name: String, _ decode: (Span<UInt8>) throws(FormatError) -> Value) {
    #expect(failure { () throws(FormatError) in try decode(frame.span) } == nil)
    for bit in 0..<(frame.count * 8) {
      var damaged = frame
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(failure { () throws(FormatError) in try decode(damaged.span) } != nil, "\(name): bit \(bit)")
    }
    for count in 0..<frame.count {
      let cut = failure { () throws(FormatError) in try decode(frame.span.extracting(0..<count)) }
      #expect(cut != nil, "\(name): \(count) bytes")
    }
    #expect(failure { () throws(FormatError) in try decode((frame + [0]).span) } != nil)
  }

  @Test func preamble() throws {
    let preamble = Preamble(settings: Self.settings, opening: Self.opening)
    let frame = try preamble.encodedFrame()
    #expect(
      Array(frame[..<16]) == [
        0x5D, 0x2A, 0x4D, 0x18, UInt8(frame.count - 8), 0, 0, 0, 0x53, 0x54, 0x49, 0x58, 1, 1, 0, 0,
      ])
    #expect(try Preamble(decodingFrame: frame.span) == preamble)
    checkDamage(frame, "preamble") { bytes throws(FormatError) in try Preamble(decodingFrame: bytes) }
    let other = Preamble(
      settings: ArchiveSettings(chunkByteCount: 4096, level: -7, zstdVersion: .max), opening: Manifest())
    #expect(try roundTrip(other) == other)
  }

  @Test func manifestLimits() throws {
    func code(_ pairs: [Manifest.Pair]) -> FormatError.Code? {
      failure { () throws(FormatError) in try Preamble(settings: Self.settings, opening: Manifest(pairs)).encodedFrame()
      }?.code
    }
    let value = String(repeating: "v", count: 65_536)
    #expect(code([.init(key: "k", value: value)]) == nil)
    #expect(code([.init(key: "k", value: value + "v")]) == .limitExceeded)
    #expect(code([.init(key: "", value: "")]) == .malformed)
    #expect(code([.init(key: String(repeating: "k", count: 257), value: "")]) == .limitExceeded)
    #expect(code([.init(key: "a", value: ""), .init(key: "a", value: "")]) == .malformed)
    #expect(code((0..<17).map { .init(key: "\($0)", value: value) }) == .limitExceeded)
    // The same text in two Unicode forms: different keys.
    let forms = Manifest([.init(key: "\u{e9}", value: "1"), .init(key: "e\u{301}", value: "2")])
    #expect(
      try roundTrip(Preamble(settings: Self.settings, opening: forms)).opening
        == forms)
    #expect(forms["e\u{301}"] == "2")
    #expect(Manifest([forms.pairs[0]]) != Manifest([.init(key: "e\u{301}", value: "1")]))
    let half = Manifest((0..<9).map { .init(key: "\($0)", value: value) })
    var totals = ArchiveTotals()
    totals.chunkCount = 1
    totals.pageCount = 1
    let root = ArchiveRoot(
      settings: Self.settings, opening: half, closing: half, totals: totals,
      directories: [DirectoryReference(storedByteCount: 1, hash: 0)])
    #expect(failure { () throws(FormatError) in try root.encodedFrame() }?.code == .limitExceeded)
  }

  @Test func rootAndDigest() throws {
    var totals = ArchiveTotals()
    totals.chunkCount = 7
    totals.pageCount = 3
    totals.memberCount = 9
    totals.fileCount = 8
    totals.contentByteCount = UInt64(Int64.max)
    totals.tarByteCount = 1 << 60
    let root = ArchiveRoot(
      settings: Self.settings, opening: Self.opening, closing: Manifest([.init(key: "done", value: "yes")]),
      totals: totals, directories: [.init(storedByteCount: 77, hash: 5), .init(storedByteCount: 1_048_592, hash: 6)])
    let frame = try root.encodedFrame()
    #expect(try ArchiveRoot(decodingFrame: frame.span) == root)
    checkDamage(frame, "root") { bytes throws(FormatError) in try ArchiveRoot(decodingFrame: bytes) }
    let digest = try ArchiveRoot.digest(ofFrame: frame.span)
    #expect(digest == XXH3.hash128(frame.span.extracting(0..<(frame.count - 28))))
    #expect(ArchiveRoot.frameByteCount(footer: frame.span.extracting((frame.count - 12)..<frame.count)) == frame.count)
    let tail = [1, 2, 3] + frame + [UInt8](repeating: 9, count: 100)
    let found = ArchiveRoot.findFooter(in: tail.span)
    #expect(found?.end == 3 + frame.count)
    #expect(found?.frameByteCount == frame.count)
    #expect(ArchiveRoot.findFooter(in: [1, 2, 3].span) == nil)
    #expect(try root.rootOffset == root.directoriesOffset + 77 + 1_048_592)
  }

  @Test func kindsAndVersions() throws {
    var frame = try Preamble(settings: Self.settings, opening: Self.opening).encodedFrame()
    #expect(try SkippableFrame.kind(frame.span) == .preamble)
    frame[13] = 2
    #expect(failure { () throws(FormatError) in try SkippableFrame.kind(frame.span) }?.code == .unsupported)
    frame[0] = 0x50
    #expect(try SkippableFrame.kind(frame.span) == nil)
    #expect(try SkippableFrame.kind([0x5D, 0x2A].span) == nil)
  }

  @Test func pageFrame() throws {
    // A zstd frame of raw blocks stands for a compressed page.
    let payload: [UInt8] = [1, 2, 3, 4, 5]
    let zstd: [UInt8] =
      RawFrame.frameHeader(contentByteCount: 5) + RawFrame.blockHeader(byteCount: 5, isLast: true) + payload + [
        0, 0, 0, 0,
      ]
    let frame = try PageFrame.wrap(compressed: zstd.span, decodedByteCount: 5)
    let parsed = try PageFrame.parse(frame.span)
    #expect(parsed.decodedByteCount == 5)
    #expect(Array(frame[parsed.compressed]) == zstd)
    #expect(
      Array(frame[..<PageFrame.prefixByteCount])
        == (try PageFrame.prefix(compressedByteCount: zstd.count, decodedByteCount: 5)))
    for count in 0..<frame.count {
      #expect(failure { () throws(FormatError) in try PageFrame.parse(frame.span.extracting(0..<count)) } != nil)
    }
    for (stated, body) in [
      (6, zstd), (5, zstd + [0]), (5, Array(zstd.dropLast())), (5, [0x5D, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]),
    ] {
      let bad = try PageFrame.wrap(compressed: body.span, decodedByteCount: stated)
      #expect(failure { () throws(FormatError) in try PageFrame.parse(bad.span) } != nil)
    }
    #expect(
      failure { () throws(FormatError) in try PageFrame.prefix(compressedByteCount: 9, decodedByteCount: (64 << 20) + 1)
      }?.code == .limitExceeded)
  }

  @Test func filterHasNoFalseNegativesAndFewFalsePositives() {
    for count in [0, 1, 2, 5, 6, 7, 100, 8192, 65_536] {
      var random = SeededGenerator(UInt64(count))
      let hashes = (0..<count).map { _ in random.next() }
      let filter = NameFilter.make(hashes: hashes)
      #expect(filter.count == NameFilter.byteCount(memberCount: count))
      #expect(hashes.allSatisfy { mayContain($0, filter) })
      let wrong = (0..<10_000).count { _ in mayContain(random.next(), filter) }
      #expect(wrong < 200, "\(count) members: \(wrong) of 10000")
    }
  }
}
