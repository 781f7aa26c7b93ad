import Testing

@testable import ArchiveFormat

@Suite struct TarRoundTripTests {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func everyMemberComesBack(seed: UInt64) throws {
    var generator = TarMemberGenerator(seed: seed)
    for index in 0..<1500 {
      let member = generator.member()
      var header: [UInt8] = []
      try TarHeaderEncoder.append(member, to: &header)
      #expect(header.count == TarHeaderEncoder.headerByteCount(of: member), "seed \(seed), member \(index)")
      #expect(header.count % 512 == 0)
      let found = try tarMember(header)
      #expect(found == member, "seed \(seed), member \(index)")
      if found != member { break }
    }
  }

  /// Truncation at every byte never yields a member, and says so at the end.
  @Test func truncationAtEveryByte() throws {
    var member = Member(path: [UInt8](repeating: 0xFF, count: 700), kind: .file, mode: 0o600)
    member.modificationTime = Timestamp(seconds: -1, nanoseconds: 5)
    member.sparseExtents = (0..<200).map { SparseExtent(offset: UInt64($0) * 8192, byteCount: 512) }
    member.byteCount = 1 << 30
    var header: [UInt8] = []
    try TarHeaderEncoder.append(member, to: &header)
    #expect(header.count > 512 * 6)
    for count in 0..<header.count {
      var parser = TarParser()
      let (consumed, event) = try parser.consume(header.span, in: 0..<count)
      #expect(event == nil && consumed == count)
      if count == 0 {
        #expect(try parser.finish() == .empty)
      } else {
        let error = #expect(throws: FormatError.self) { _ = try parser.finish() }
        #expect(error?.code == .truncated)
      }
    }
  }

  @Test(arguments: [1, 7, 511, 512, 513, 1000])
  func piecesDoNotMatter(pieceByteCount: Int) throws {
    var generator = TarMemberGenerator(seed: 99)
    var stream: [UInt8] = []
    var members: [Member] = []
    for _ in 0..<60 {
      var member = generator.member()
      if member.kind == .file, member.storedByteCount > 10000 { member.byteCount = 700; member.sparseExtents = nil }
      try TarHeaderEncoder.append(member, to: &stream)
      stream += [UInt8](repeating: 0x41, count: TarLimits.padded(Int(member.storedByteCount)))
      members.append(member)
    }
    stream += RawTar.end
    let reading = try TarReading(stream, pieceByteCount: pieceByteCount)
    #expect(reading.members.map(\.member) == members)
    #expect(reading.rejected.isEmpty && reading.sawEnd && reading.ending == .complete)
    // Headers, data and padding cover the stream without a gap.
    var position: UInt64 = 0
    for found in reading.members {
      #expect(found.headerOffset == position)
      position += found.headerByteCount + found.paddedDataByteCount
    }
    #expect(position + 1024 == UInt64(stream.count))
  }

  /// Flipped bits give members, refusals or errors, but no traps and no endless loops.
  @Test(arguments: [11, 12, 13] as [UInt64])
  func flippedBits(seed: UInt64) throws {
    var generator = TarMemberGenerator(seed: seed)
    var random = TarTestGenerator(seed: seed)
    var found = 0
    for _ in 0..<1500 {
      var header: [UInt8] = []
      try TarHeaderEncoder.append(generator.member(), to: &header)
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        header[Int.random(in: 0..<header.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      // Make the checksums right again, else nothing behind them is reached.
      if Bool.random(using: &random) { Self.fixChecksums(&header) }
      for isLenient in [false, true] {
        do {
          let reading = try TarReading(header + RawTar.end, isLenient: isLenient)
          found += reading.members.count + reading.rejected.count
        } catch {
          #expect(!error.message.isEmpty)
        }
      }
    }
    #expect(found > 500, "seed \(seed)")
  }

  private static func fixChecksums(_ bytes: inout [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: 512) where bytes[start + 257] == 0x75 {
      for index in 148..<156 { bytes[start + index] = 0x20 }
      let sum = bytes[start..<(start + 512)].reduce(0) { $0 + Int($1) }
      let digits = RawTar.number(Int64(sum), 7)
      for index in 0..<7 { bytes[start + 148 + index] = digits[index] }
    }
  }

  @Test func writesTheSameBytesTwice() throws {
    var generator = TarMemberGenerator(seed: 5)
    for _ in 0..<200 {
      let member = generator.member()
      var first: [UInt8] = []
      var second: [UInt8] = []
      try TarHeaderEncoder.append(member, to: &first)
      try TarHeaderEncoder.append(member, to: &second)
      #expect(first == second)
    }
  }

  @Test(arguments: [1, 99, 100, 101, 155, 156, 255, 256, 511, 512, 513, 4095, 4096, 65536])
  func nameLengths(count: Int) throws {
    for byte in [0x61, 0xFF] as [UInt8] {
      for kind in [MemberKind.file, .directory, .symlink, .hardlink] {
        for hasSlash in [false, true] where count > 2 || !hasSlash {
          var path = [UInt8](repeating: byte, count: count)
          if hasSlash { path[count / 2] = 0x2F }
          var member = Member(path: path, kind: kind)
          if kind == .symlink || kind == .hardlink { member.linkTarget = path }
          var header: [UInt8] = []
          try TarHeaderEncoder.append(member, to: &header)
          #expect(header.count == TarHeaderEncoder.headerByteCount(of: member))
          #expect(try tarMember(header) == member, "\(count) \(byte) \(kind) \(hasSlash)")
        }
      }
      // Read from each of the forms.
      let name = [UInt8](repeating: byte, count: count)
      #expect(try tarMember(RawTar.longName(name) + RawTar.header("short"))?.path == name)
      #expect(try tarMember(RawTar.pax(body: RawTar.record("path", name)) + RawTar.header("short"))?.path == name)
      // A long name without its NUL.
      #expect(try tarMember(RawTar.entry(Array("L".utf8), name, type: "L") + RawTar.header("short"))?.path == name)
    }
  }

  @Test func ustarPrefixIsUsedWhereItFits() throws {
    let prefix = [UInt8](repeating: 0x70, count: 155)
    let name = [UInt8](repeating: 0x6E, count: 100)
    var header: [UInt8] = []
    try TarHeaderEncoder.append(Member(path: prefix + [0x2F] + name, kind: .file), to: &header)
    #expect(header.count == 512)
    #expect(Array(header[345..<500]) == prefix)
    // A directory needs one byte more for its slash.
    header = []
    try TarHeaderEncoder.append(Member(path: prefix + [0x2F] + name, kind: .directory), to: &header)
    #expect(header.count == 512 * 3)
  }

  @Test func usualHeaderInFull() throws {
    var member = Member(path: Array("dir/file".utf8), kind: .file, mode: 0o644)
    member.userID = 1000
    member.groupID = 100
    member.userName = Array("joe".utf8)
    member.groupName = Array("users".utf8)
    member.byteCount = 5
    member.modificationTime = Timestamp(seconds: 1_700_000_000)
    var header: [UInt8] = []
    try TarHeaderEncoder.append(member, to: &header)
    let expected = RawTar.header(
      member.path, size: 5, uid: 1000, gid: 100, mtime: 1_700_000_000,
      patches: [(265, member.userName), (297, member.groupName)])
    #expect(header == expected)
  }

  @Test func paxRecordLengthsAroundPowersOfTen() throws {
    for count in [80, 85, 86, 87, 88, 980, 983, 984, 985, 986, 987, 9980, 9981, 9982, 9983, 9984] {
      var member = Member(path: [0x61], kind: .file)
      member.extendedAttributes = [
        ExtendedAttribute(name: Array("u".utf8), value: [UInt8](repeating: 0x0A, count: count))
      ]
      var header: [UInt8] = []
      try TarHeaderEncoder.append(member, to: &header)
      #expect(header.count == TarHeaderEncoder.headerByteCount(of: member))
      #expect(try tarMember(header) == member)
    }
  }
}
