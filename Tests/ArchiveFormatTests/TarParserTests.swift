import Testing

@testable import ArchiveFormat

@Suite struct TarParserTests {
  private func member(_ parts: [UInt8], isLenient: Bool = false) throws -> ParsedMember {
    let reading = try TarReading(parts + RawTar.end, isLenient: isLenient)
    #expect(reading.rejected.isEmpty, "\(reading.rejected.map(\.reason.message))")
    return try #require(reading.members.first)
  }

  private func code(_ parts: [UInt8], isLenient: Bool = false) -> FormatError.Code? {
    do throws(FormatError) {
      _ = try TarReading(parts, isLenient: isLenient)
      return nil
    } catch {
      return error.code
    }
  }

  private func isPlausible(_ block: [UInt8]) -> Bool { TarParser.isPlausibleHeader(block.span) }

  // MARK: Sizes

  @Test func paxSizeWins() throws {
    let inner = RawTar.header("inner") + [UInt8](repeating: 0, count: 512)
    let reading = try TarReading(
      RawTar.pax(["size": "1024"]) + RawTar.header("outer") + inner + RawTar.entry("after", "z") + RawTar.end)
    #expect(reading.paths == ["outer", "after"])
    #expect(reading.members[0].dataByteCount == 1024 && reading.members[0].member.byteCount == 1024)
    // The other way round: the field says more than pax.
    let less = try TarReading(
      RawTar.pax(["size": "0"]) + RawTar.header("outer", size: 1024) + RawTar.entry("next", "z") + RawTar.end)
    #expect(less.paths == ["outer", "next"])
  }

  @Test func paxInFrontOfLongNames() throws {
    for keyword in ["size", "path", "linkpath"] {
      let parts =
        RawTar.pax(body: RawTar.record(keyword, Array("3".utf8))) + RawTar.longName("long")
        + RawTar.entry("short", "abc")
      #expect(try tarRejection(parts)?.code == .malformed)
      let found = try member(parts, isLenient: true)
      #expect(found.dataByteCount == 3)
      #expect(found.member.path == Array((keyword == "path" ? "3" : "long").utf8))
    }
    let quiet = try member(RawTar.pax(["mtime": "7"]) + RawTar.longName("long") + RawTar.entry("short", "abc"))
    #expect(quiet.member.path == Array("long".utf8) && quiet.member.modificationTime.seconds == 7)
    // The size never applies to the long name itself.
    let swallowing = RawTar.pax(["size": "512"]) + RawTar.longName("long") + RawTar.header("short")
    let reading = try TarReading(
      swallowing + RawTar.header("inner") + RawTar.entry("after") + RawTar.end, isLenient: true)
    #expect(reading.paths == ["long", "after"])
  }

  @Test func badSizes() throws {
    for size in [-512, -1, .min] as [Int64] { #expect(code(RawTar.header([0x6E], size: size)) == .malformed) }
    for size in [.max, 1 << 60 + 1] as [Int64] { #expect(code(RawTar.header([0x6E], size: size)) == .limitExceeded) }
    let huge = [0x80] + [UInt8](repeating: 0xFF, count: 11)
    #expect(code(RawTar.header([0x6E], patches: [(124, huge)])) == .limitExceeded)
    for text in ["0000000018 ", "+", "1x", "-0000000001"] {
      #expect(code(RawTar.header([0x6E], patches: [(124, Array(text.utf8) + [0])])) == .malformed, "\(text)")
    }
    for text in ["abc", "-5", "99999999999999999999", "", " 1", "1 "] {
      #expect(code(RawTar.pax(["size": text]) + RawTar.header("n")) == .malformed, "\(text)")
    }
    #expect(code(RawTar.pax(["size": "9223372036854775807"]) + RawTar.header("n")) == .limitExceeded)
    for isLenient in [false, true] {
      #expect(code(RawTar.header([0x6E], size: -1), isLenient: isLenient) == .malformed)
    }
  }

  @Test func oddButLegalNumbers() throws {
    for (text, size) in [("        7 ", 7), ("7", 7), ("0000000007\0x", 7), ("            ", 0), ("\0\0\0", 0)] {
      var field = Array(text.utf8)
      field += [UInt8](repeating: 0, count: 12 - field.count)
      let data = [UInt8](repeating: 0x41, count: size > 0 ? 512 : 0)
      #expect(try member(RawTar.header([0x6E], patches: [(124, field)]) + data).dataByteCount == UInt64(size))
    }
    let big = try member(RawTar.header([0x6E], uid: 3_000_000_000, gid: 2_097_152, mtime: -1))
    #expect(big.member.userID == 3_000_000_000 && big.member.groupID == 2_097_152)
    #expect(big.member.modificationTime.seconds == -1)
    #expect(try member(RawTar.header([0x6E], mode: 0o100644)).member.mode == 0o644)
    #expect(try member(RawTar.header([0x6E], mode: 0o106755)).member.mode == 0o6755)
  }

  @Test func announcedLengthsAreRefusedBeforeTheyAreBuffered() throws {
    for type in ["x", "g", "L", "K"] as [Character] {
      for size in [8 << 30, 1 << 20 + 1] as [Int64] {
        var parser = TarParser()
        let header = RawTar.header([0x70], size: size, type: type)
        let error = #expect(throws: FormatError.self) { _ = try parser.consume(header.span, in: 0..<512) }
        #expect(error?.code == .limitExceeded && error?.offset == 0)
      }
      var parser = TarParser()
      #expect(try parser.consume(RawTar.header([0x70], size: 1 << 20, type: type).span, in: 0..<512).event == nil)
    }
  }

  // MARK: Pax records

  @Test func malformedRecordsRefuseTheEntryAndKeepTheAlignment() throws {
    let bodies = [
      "0 path=a\n", "99 path=a\n", "8 path=", "-5 path=a\n", "8 path=a\n", "11 path-aa\n", "x", "9 =12345\n",
      "12 mtime=xx\n", "99999999999999999999999 a=b\n", "12 uid=1x34\n", "13 mtime=1.x\n", "8 path=\n", "4 \n\n", "2 ",
      "2",
      "5 a=\n0",
    ]
    for body in bodies {
      for isLenient in [false, true] {
        let stream =
          RawTar.pax(body: Array(body.utf8)) + RawTar.entry("x", "data") + RawTar.entry("after", "z") + RawTar.end
        let reading = try TarReading(stream, isLenient: isLenient)
        #expect(reading.rejected.count == 1, "\(body)")
        #expect(reading.paths.last == "after", "\(body)")
      }
    }
    for name in [[], [0x61, 0, 0x62]] as [[UInt8]] {
      #expect(
        try tarRejection(RawTar.pax(body: RawTar.record("path", name)) + RawTar.entry("x", "1"))?.code == .malformed)
      let link = RawTar.pax(body: RawTar.record("linkpath", name)) + RawTar.header("x", type: "2", link: "t")
      #expect(try tarRejection(link)?.code == .malformed)
    }
  }

  @Test func emptyPaxHeaderAndUnknownKeywords() throws {
    #expect(try member(RawTar.pax([:]) + RawTar.entry("x", "1")).member.path == [0x78])
    let found = try member(
      RawTar.pax(["comment": "c", "hdrcharset": "BINARY", "SCHILY.ino": "5", "VENDOR.x": "y", "atime": "zzz"])
        + RawTar.entry("x", "1"))
    #expect(found.notes.isEmpty)
  }

  @Test func repeatedKeysAndHeaders() throws {
    #expect(try member(RawTar.pax(["path": "a", "path": "b"]) + RawTar.entry("x", "1")).member.path == [0x62])
    let two = RawTar.pax(["path": "first"]) + RawTar.pax(["path": "second"]) + RawTar.entry("x", "1")
    #expect(try tarRejection(two)?.code == .malformed)
    #expect(try member(two, isLenient: true).member.path == Array("second".utf8))
    let names = RawTar.longName("first") + RawTar.longName("second") + RawTar.entry("x", "1")
    #expect(try tarRejection(names)?.code == .malformed)
    #expect(try member(names, isLenient: true).member.path == Array("second".utf8))
    let both = RawTar.longName("first") + RawTar.pax(["path": "second"]) + RawTar.entry("x", "1")
    #expect(try tarRejection(both)?.code == .malformed)
    #expect(try member(both, isLenient: true).member.path == Array("second".utf8))
  }

  @Test func globalHeaders() throws {
    let stream =
      RawTar.pax(["comment": "c", "mtime": "5.5", "uid": "7"], type: "g") + RawTar.entry("a", "1")
      + RawTar.pax(["uid": "8", "uname": "u"], type: "g") + RawTar.pax(["mtime": "9"]) + RawTar.entry("b", "2")
      + RawTar.end
    let reading = try TarReading(stream)
    #expect(reading.members.map(\.member.userID) == [7, 8])
    #expect(
      reading.members.map(\.member.modificationTime) == [
        Timestamp(seconds: 5, nanoseconds: 500_000_000), Timestamp(seconds: 9),
      ])
    #expect(reading.members[1].member.userName == Array("u".utf8))
    #expect(reading.members[0].headerOffset == 0)
    for keyword in ["size", "path", "linkpath", "GNU.sparse.name"] {
      let parts =
        RawTar.pax(body: []) + RawTar.entry([0x67], RawTar.record(keyword, [0x33]), type: "g") + RawTar.entry("a", "1")
      #expect(try tarRejection(parts)?.code == .malformed)
      let lenient = try member(parts, isLenient: true)
      #expect(lenient.member.path == [0x61] && lenient.dataByteCount == 1 && lenient.notes.count == 1)
    }
  }

  @Test(
    arguments: [
      ("0", 0, 0), ("1.5", 1, 500_000_000), ("-0.5", -1, 500_000_000), ("-1", -1, 0), ("-1.25", -2, 750_000_000),
      ("1.1234567899", 1, 123_456_789), ("-0.0000000001", -1, 999_999_999), ("-0.9999999991", -1, 0), ("5.", 5, 0),
      ("-0", 0, 0), ("99999999999", 99_999_999_999, 0), ("-9223372036854775808", Int64.min, 0),
    ] as [(String, Int64, UInt32)])
  func times(text: String, seconds: Int64, nanoseconds: UInt32) throws {
    let found = try member(RawTar.pax(["mtime": text]) + RawTar.entry("x", "1"))
    #expect(found.member.modificationTime == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    #expect(found.notes.isEmpty)
  }

  @Test func clampedTimes() throws {
    for (text, seconds) in [
      ("9223372036854775808", Int64.max), ("-9223372036854775808.1", .min), ("-99999999999999999999999", .min),
    ] {
      let found = try member(RawTar.pax(["mtime": text]) + RawTar.entry("x", "1"))
      #expect(found.member.modificationTime.seconds == seconds && found.notes.count == 1)
    }
    let field = [0x80, 1] + [UInt8](repeating: 0, count: 10)
    #expect(try member(RawTar.header([0x78], patches: [(136, field)])).notes.count == 1)
  }

  @Test func ownersThatCannotBeSet() throws {
    #expect(try member(RawTar.pax(["uid": "4294967295"]) + RawTar.entry("x", "1")).notes.count == 1)
    #expect(try member(RawTar.pax(["uid": "4294967294"]) + RawTar.entry("x", "1")).notes.isEmpty)
    #expect(try tarRejection(RawTar.pax(["uid": "-1"]) + RawTar.entry("x", "1"))?.code == .malformed)
    #expect(try tarRejection(RawTar.header([0x78], uid: -1))?.code == .malformed)
    #expect(try tarRejection(RawTar.header([0x78], patches: [(100, Array("00z0644".utf8))]))?.code == .malformed)
  }

  // MARK: Names

  @Test(arguments: [
    ("./a", "a"), ("a//b", "a/b"), ("a/./b", "a/b"), ("/abs", "abs"), ("//x", "x"), (".", "."), ("./", "."),
    ("././/", "."),
    ("a/", "a"), ("...", "..."), ("a/..b", "a/..b"), (".hidden", ".hidden"), ("/.", "."), ("./a/.", "a"),
  ])
  func normalizedNames(raw: String, path: String) throws {
    let found = try member(RawTar.header(raw, type: "5"))
    #expect(found.member.path == Array(path.utf8))
    #expect(found.wasAbsolute == raw.hasPrefix("/"))
    if path != "." {
      let link = try member(RawTar.header("l", type: "1", link: raw))
      #expect(link.member.linkTarget == Array(path.utf8))
      #expect(try member(RawTar.header("l", type: "2", link: raw)).member.linkTarget == Array(raw.utf8))
    }
  }

  @Test(arguments: ["", "/", "////", "..", "../x", "a/../b", "a/../../b", "/..", "a/.."])
  func refusedNames(raw: String) throws {
    #expect(try tarRejection(RawTar.entry(raw, "1"))?.code == .malformed)
    #expect(try tarRejection(RawTar.entry(raw, "1"), isLenient: true)?.code == .malformed)
    #expect(try tarRejection(RawTar.header("l", type: "1", link: raw))?.code == .malformed)
    #expect(try TarReading(RawTar.entry(raw, "1") + RawTar.entry("after", "2") + RawTar.end).paths == ["after"])
  }

  @Test(arguments: ["a\0b", "./a\0b", "a//b\0", "\0", "/\0/x"]) func namesWithNUL(raw: String) {
    let name = Array(raw.utf8)
    let error = #expect(throws: FormatError.self) { try TarPath.normalized(name.span) }
    #expect(error?.code == .malformed)
  }

  @Test func refusedLinksAndRoots() throws {
    #expect(try tarRejection(RawTar.header("l", type: "2"))?.code == .malformed)
    #expect(try tarRejection(RawTar.header("l", type: "1", link: "."))?.code == .malformed)
    for type in ["0", "1", "2", "6"] as [Character] {
      #expect(try tarRejection(RawTar.header(".", type: type, link: "x"))?.code == .malformed)
    }
  }

  @Test func trailingSlashes() throws {
    for type in ["0", "\0"] as [Character] {
      #expect(try member(RawTar.header("d/", type: type)).member.kind == .directory)
      #expect(try tarRejection(RawTar.entry("d/", "data", type: type))?.code == .malformed)
    }
    #expect(try member(RawTar.pax(["path": "d/"]) + RawTar.header("x")).member.kind == .directory)
    #expect(try member(RawTar.header("d/", type: "2", link: "t")).member.kind == .symlink)
  }

  @Test func prefixes() throws {
    let prefix = Array("some/where".utf8)
    #expect(try member(RawTar.header([0x78], prefix: prefix)).member.path == Array("some/where/x".utf8))
    let gnu = RawTar.header([0x78], magic: Array("ustar  \0".utf8), prefix: prefix)
    #expect(try member(gnu).member.path == [0x78])
    #expect(
      try member(RawTar.longName("long") + RawTar.header([0x78], prefix: prefix)).member.path == Array("long".utf8))
    // star keeps times behind a shorter prefix.
    let star = RawTar.header(
      [0x78], prefix: [UInt8](repeating: 0x70, count: 155), patches: [(508, Array("tar\0".utf8))])
    #expect(try member(star).member.path.count == 131 + 2)
    let old = RawTar.header([0x78], magic: [UInt8](repeating: 0, count: 8), patches: [(265, Array("joe".utf8))])
    #expect(try member(old).member.userName.isEmpty)
  }

  // MARK: Types

  @Test func typesWithoutData() throws {
    for type in ["1", "2", "3", "4", "5", "6"] as [Character] {
      let stream = RawTar.header("l", size: 512, type: type, link: "t") + RawTar.entry("next", "z") + RawTar.end
      let reading = try TarReading(stream)
      #expect(reading.paths == ["l", "next"])
      #expect(reading.members[0].notes.count == 1 && reading.members[0].paddedDataByteCount == 0)
      let pax = RawTar.pax(["size": "512"]) + RawTar.header("l", type: type, link: "t")
      #expect(try tarRejection(pax + RawTar.padded([1]))?.code == .malformed)
      let found = try member(pax, isLenient: true)
      #expect(found.dataByteCount == 0 && found.paddedDataByteCount == (type == "1" ? 512 : 0))
    }
  }

  @Test func unusualTypes() throws {
    for type in ["7", "Z", "8"] as [Character] {
      let found = try member(RawTar.entry("f", "data", type: type))
      #expect(found.member.kind == .file && found.dataByteCount == 4 && found.notes.count == 1)
    }
    let dump = try TarReading(RawTar.entry("d", "Yfile\0", type: "D") + RawTar.entry("f", "1") + RawTar.end)
    #expect(dump.members[0].member.kind == .directory && dump.members[0].dataByteCount == 0)
    #expect(dump.members[0].paddedDataByteCount == 512 && dump.paths == ["d", "f"])
    for type in ["M", "N"] as [Character] {
      let reading = try TarReading(RawTar.entry("m", "data", type: type) + RawTar.entry("f", "1") + RawTar.end)
      #expect(reading.rejected.map(\.reason.code) == [.unsupported] && reading.paths == ["f"])
    }
    for size in [0, 700] {
      let label = RawTar.entry(Array("label".utf8), [UInt8](repeating: 1, count: size), type: "V")
      for piece in [0, 1, 100] {
        #expect(try TarReading(label + RawTar.entry("f", "1") + RawTar.end, pieceByteCount: piece).paths == ["f"])
      }
    }
  }

  @Test func devices() throws {
    let found = try member(RawTar.header([0x64], type: "3", device: (8, 0o10000000)))
    #expect(found.member.deviceMajor == 8 && found.member.deviceMinor == 0o10000000)
    #expect(try tarRejection(RawTar.header([0x64], type: "4", device: (1 << 32, 0)))?.code == .malformed)
    #expect(
      try tarRejection(RawTar.header([0x64], type: "3", magic: [UInt8](repeating: 0, count: 8)))?.code == .malformed)
  }

  @Test func extendedAttributes() throws {
    let found = try member(
      RawTar.pax([
        "LIBARCHIVE.xattr.user.b%3D": "AAo9AA", "LIBARCHIVE.xattr.user.a": "eHg=", "SCHILY.xattr.user.z%41%25": "z",
        "SCHILY.xattr.user.a": "first", "SCHILY.xattr.user.a": "last\n=", "SCHILY.xattr.user.empty": "",
        "LIBARCHIVE.xattr.user.bad": "A", "SCHILY.acl.access": "user::rw-",
      ]) + RawTar.entry("f", "1"))
    let names = found.member.extendedAttributes.map { String(decoding: $0.name, as: UTF8.self) }
    #expect(names == ["user.a", "user.b=", "user.empty", "user.z%41%"])
    #expect(found.member.extendedAttributes.map(\.value) == [Array("last\n=".utf8), [0, 10, 0x3D, 0], [], [0x7A]])
    #expect(found.member.accessACL == Array("user::rw-".utf8) && found.notes.count == 1)
    let text = Array("user::rwx,user:1000:r--,group::r-x,mask::r-x,other::---".utf8)
    let binary = try #require(ACLText.xattr(fromText: text))
    let acl = RawTar.record("SCHILY.xattr.system.posix_acl_default", binary)
    let converted = try member(RawTar.pax(body: acl) + RawTar.header("d", type: "5"))
    #expect(converted.member.defaultACL == text && converted.member.extendedAttributes.isEmpty)
  }

  // MARK: Checksums and endings

  @Test func checksums() throws {
    var header = RawTar.header("a")
    header[0] = 0x62
    #expect(code(header) == .malformed)
    #expect(code(RawTar.entry("a", "1") + header) == .malformed)
    // Signed sum, as some old writers have it.
    var signed = RawTar.header([0xFF, 0xFE])
    for index in 148..<156 { signed[index] = 0x20 }
    let sum = signed.reduce(0) { $0 + Int(Int8(bitPattern: $1)) }
    for (index, digit) in RawTar.number(Int64(sum), 7).enumerated() { signed[148 + index] = digit }
    #expect(try member(signed).member.path == [0xFF, 0xFE])
    #expect(isPlausible(signed) && !isPlausible(header))
    #expect(!isPlausible([UInt8](repeating: 0, count: 512)))
    #expect(isPlausible(RawTar.header([0x61], magic: [UInt8](repeating: 0, count: 8))))
    #expect(!isPlausible(RawTar.header([0x61], magic: Array("pizza123".utf8))))
    #expect(!isPlausible([1, 2, 3]))
  }

  @Test func endings() throws {
    let entry = RawTar.entry("a", "1")
    let zeros = { [UInt8](repeating: 0, count: $0) }
    for piece in [0, 1, 300, 512] {
      func ending(_ bytes: [UInt8]) throws -> TarParser.Ending? { try TarReading(bytes, pieceByteCount: piece).ending }
      #expect(try ending([]) == .empty)
      #expect(try ending(zeros(1024)) == .complete)
      #expect(try ending(entry + zeros(1024)) == .complete)
      #expect(try ending(entry + zeros(10240)) == .complete)
      #expect(try ending(entry + zeros(1030)) == .complete)
      #expect(try ending(entry + zeros(512)) == .missingEndBlocks)
      #expect(try ending(entry + zeros(1000)) == .missingEndBlocks)
      #expect(try ending(entry) == .missingEndBlocks)
      #expect(try ending(entry + zeros(1024) + [1]) == .dataAfterEnd)
      #expect(try ending(entry + zeros(512) + entry) == .dataAfterEnd)
      #expect(try ending(entry + zeros(1024) + entry + zeros(1024)) == .dataAfterEnd)
    }
    #expect(code(entry + [1, 2, 3]) == .truncated)
    #expect(code(entry.dropLast(512) + []) == .truncated)
    for extended in [RawTar.pax(["mtime": "1"]), RawTar.longName("x")] {
      #expect(code(entry + extended) == .truncated)
      #expect(code(entry + extended + RawTar.end) == .malformed)
      #expect(code(entry + extended + RawTar.end, isLenient: true) == nil)
    }
    #expect(code(RawTar.pax(["comment": "x"], type: "g")) == nil)
  }

  @Test func offsetsCountFromTheStart() throws {
    var parser = TarParser(startOffset: 1 << 40)
    let bytes = RawTar.entry("a", "1") + [UInt8](repeating: 0x41, count: 512)
    guard case .member(let found) = try parser.consume(bytes.span, in: 0..<512).event else {
      Issue.record("no member")
      return
    }
    #expect(found.headerOffset == 1 << 40 && parser.offset == 1 << 40 + 512)
    parser.skip(found.paddedDataByteCount)
    let error = try #require(throws: FormatError.self) { _ = try parser.consume(bytes.span, in: 1024..<1536) }
    let offset = try #require(error.offset)
    #expect(offset == 1 << 40 + 1024)
  }
}
