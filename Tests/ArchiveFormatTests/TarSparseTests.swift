import Testing

@testable import ArchiveFormat

@Suite struct TarSparseTests {
  private func sparse(_ map: String, data: [UInt8] = [], real: String = "100000", size: Int64? = nil) -> [UInt8] {
    let body = RawTar.padded(Array(map.utf8)) + data
    return RawTar.pax([
      "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s", "GNU.sparse.realsize": real,
    ]) + RawTar.header("GNUSparseFile.0/s", size: size ?? Int64(body.count)) + RawTar.padded(body)
  }

  private let data = [UInt8](repeating: 0x41, count: 512)

  @Test func version10() throws {
    for piece in [0, 1, 512, 600] {
      let reading = try TarReading(
        sparse("3\n0\n512\n4096\n1\n100000\n0\n", data: data + [0x42]) + RawTar.entry("z", "1") + RawTar.end,
        pieceByteCount: piece)
      #expect(reading.paths == ["s", "z"])
      let found = reading.members[0]
      #expect(found.member.byteCount == 100000 && found.dataByteCount == 513 && found.paddedDataByteCount == 1024)
      #expect(
        found.member.sparseExtents == [
          SparseExtent(offset: 0, byteCount: 512), SparseExtent(offset: 4096, byteCount: 1),
        ])
      #expect(reading.contents[0] == data + [0x42])
    }
    #expect(try TarReading(sparse("0\n", real: "0") + RawTar.end).members.first?.member.sparseExtents == [])
  }

  @Test(arguments: [
    "1\n0\n513\n", "1\n0\n511\n", "2\n512\n512\n0\n0\n", "1\n99999\n512\n", "1\n100001\n0\n", "1\n-1\n512\n",
    "\n0\n512\n",
    "1\n0\n\n512\n", "x\n", "99999999999\n0\n0\n", "1000001\n", "500\n0\n512\n", "1\n0\n99999999999999999999\n", "",
    "1\n0\n512",
    "2\n0\n512\n18446744073709551615\n0\n", "1\n18446744073709551615\n18446744073709551615\n",
  ])
  func brokenMapsRefuseTheEntry(map: String) throws {
    for isLenient in [false, true] {
      let reading = try TarReading(
        sparse(map, data: data) + RawTar.entry("z", "1") + RawTar.end, isLenient: isLenient)
      #expect(reading.rejected.count == 1 && reading.paths == ["z"])
      #expect(reading.rejected.first?.path == [0x73])
    }
  }

  @Test func mapIsBoundedByWhatIsThere() throws {
    // A map of a million extents announced in a member that has a block of it.
    let reading = try TarReading(sparse("1000000\n0\n512\n", data: data) + RawTar.end)
    #expect(reading.rejected.first?.reason.code == .malformed)
    #expect(try TarReading(sparse("1000001\n", data: data) + RawTar.end).rejected.first?.reason.code == .limitExceeded)
    #expect(try TarReading(sparse("1\n0\n10\n", size: 100) + RawTar.end).rejected.count == 1)
    // A block full of numbers, and more should follow: what follows is the next member.
    let numbers = "100\n" + String(repeating: "0000000000000000000\n", count: 25) + "0000000\n"
    let full = try TarReading(sparse(numbers) + RawTar.entry("z", "1") + RawTar.end)
    #expect(full.rejected.first?.reason.code == .malformed && full.paths == ["z"])
    #expect(
      try TarReading(sparse("0\n", real: "1152921504606846977") + RawTar.end).rejected.first?.reason.code
        == .limitExceeded)
  }

  @Test func limitOfExtents() throws {
    var member = Member(path: [0x73], kind: .file)
    member.sparseExtents = (0..<999_999).map { SparseExtent(offset: UInt64($0) * 1024, byteCount: 512) }
    member.byteCount = 1 << 40
    var header: [UInt8] = []
    try TarHeaderEncoder.append(member, to: &header)
    #expect(header.count == TarHeaderEncoder.headerByteCount(of: member))
    #expect(try tarMember(header) == member)
    member.sparseExtents?.append(SparseExtent(offset: 1 << 39, byteCount: 512))
    let error = #expect(throws: FormatError.self) { try TarHeaderEncoder.append(member, to: &header) }
    #expect(error?.code == .limitExceeded)
  }

  @Test func versionsInRecords() throws {
    let extents = [SparseExtent(offset: 0, byteCount: 512), SparseExtent(offset: 4096, byteCount: 512)]
    let tail = RawTar.header("s", size: 1024) + data + data + RawTar.end
    let old = RawTar.pax([
      "GNU.sparse.size": "9000", "GNU.sparse.numblocks": "3", "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "512",
      "GNU.sparse.offset": "4096", "GNU.sparse.numbytes": "512", "GNU.sparse.offset": "9000",
      "GNU.sparse.numbytes": "0",
    ])
    let newer = RawTar.pax([
      "GNU.sparse.size": "9000", "GNU.sparse.numblocks": "2", "GNU.sparse.name": "s",
      "GNU.sparse.map": "0,512,4096,512",
    ])
    for header in [old, newer] {
      let found = try #require(try TarReading(header + tail).members.first)
      #expect(found.member.sparseExtents == extents && found.member.byteCount == 9000 && found.dataByteCount == 1024)
    }
    let broken: [KeyValuePairs<String, String>] = [
      ["GNU.sparse.size": "9000", "GNU.sparse.map": "0,512,4096"],
      ["GNU.sparse.size": "9000", "GNU.sparse.map": "0,512,4096,512", "GNU.sparse.numblocks": "5"],
      ["GNU.sparse.size": "9000", "GNU.sparse.map": "0,512,4096,5"],
      ["GNU.sparse.size": "9000", "GNU.sparse.map": "0,x,4096,512"],
      ["GNU.sparse.size": "4000", "GNU.sparse.map": "0,512,4096,512"],
      ["GNU.sparse.map": "0,512,4096,512"], ["GNU.sparse.realsize": "9000"],
      ["GNU.sparse.size": "9000", "GNU.sparse.offset": "0"], ["GNU.sparse.size": "9000", "GNU.sparse.numbytes": "0"],
    ]
    for records in broken {
      let reading = try TarReading(RawTar.pax(records) + tail)
      #expect(reading.rejected.count == 1 && reading.members.isEmpty && reading.sawEnd, "\(records)")
    }
    for (major, minor) in [("1", "1"), ("2", "0"), ("0", "2")] {
      let header = RawTar.pax([
        "GNU.sparse.major": major, "GNU.sparse.minor": minor, "GNU.sparse.size": "9000",
        "GNU.sparse.map": "0,512,4096,512",
      ])
      #expect(try TarReading(header + tail).rejected.first?.reason.code == .unsupported)
    }
    let directory =
      RawTar.pax(["GNU.sparse.size": "0", "GNU.sparse.map": ""]) + RawTar.header("d", type: "5") + RawTar.end
    #expect(try TarReading(directory).rejected.count == 1)
  }

  /// Old GNU headers: four extents, then blocks of 21.
  private func oldHeader(_ extents: [(Int64, Int64)], size: Int64, real: Int64) -> [UInt8] {
    func fields(_ part: ArraySlice<(Int64, Int64)>) -> [UInt8] {
      part.flatMap { RawTar.number($0.0, 12) + RawTar.number($0.1, 12) }
    }
    var rest = extents[...]
    let first = rest.prefix(4)
    rest = rest.dropFirst(4)
    var out = RawTar.header(
      [0x73], size: size, type: "S", magic: Array("ustar  \0".utf8),
      patches: [(386, fields(first)), (482, [rest.isEmpty ? 0 : 1]), (483, RawTar.number(real, 12))])
    while !rest.isEmpty {
      var block = fields(rest.prefix(21))
      rest = rest.dropFirst(21)
      block += [UInt8](repeating: 0, count: 512 - block.count)
      block[504] = rest.isEmpty ? 0 : 1
      out += block
    }
    return out
  }

  @Test(arguments: [0, 1, 3, 4, 5, 24, 25, 26, 100])
  func oldGNU(count: Int) throws {
    let extents = (0..<count).map { (Int64($0) * 4096, Int64(512)) }
    let content = [UInt8](repeating: 0x41, count: count * 512)
    for piece in [0, 100] {
      let stream = oldHeader(extents + [(1 << 35, 0)], size: Int64(content.count), real: 1 << 35) + content
      let reading = try TarReading(stream + RawTar.entry("z", "1") + RawTar.end, pieceByteCount: piece)
      #expect(reading.paths == ["s", "z"])
      #expect(reading.members[0].member.byteCount == 1 << 35)
      #expect(reading.members[0].member.sparseExtents?.count == count)
      #expect(reading.members[0].dataByteCount == UInt64(content.count))
    }
  }

  @Test func brokenOldGNU() throws {
    let cases: [[(Int64, Int64)]] = [
      [(4096, 512), (0, 512)], [(0, 1024), (512, 512)], [(0, 511)], [(-1, 1024)], [(1 << 40, 1024)],
      [(0, 1024)] + (1..<40).map { (Int64($0) * 100_000, 1 << 40) },
    ]
    for extents in cases {
      let stream = oldHeader(extents, size: 1024, real: 1 << 30) + data + data + RawTar.entry("z", "1") + RawTar.end
      let reading = try TarReading(stream)
      #expect(reading.rejected.count == 1 && reading.paths == ["z"])
    }
    #expect(try TarReading(oldHeader([(0, 512)], size: 512, real: -1) + data + RawTar.end).rejected.count == 1)
  }

  @Test func oldGNUWithoutEndIsBounded() throws {
    let header = oldHeader((0..<5).map { ($0 * 512, 512) }, size: 512, real: 1 << 40)
    var block = [UInt8](repeating: 0, count: 512)
    for index in 0..<21 {
      block.replaceSubrange((index * 24)..<(index * 24 + 24), with: RawTar.number(1 << 39, 12) + RawTar.number(0, 12))
    }
    block[504] = 1
    var parser = TarParser()
    _ = try parser.consume(header.span, in: 0..<512)
    let error = #expect(throws: FormatError.self) {
      for _ in 0..<100_000 { _ = try parser.consume(block.span, in: 0..<512) }
    }
    #expect(error?.code == .limitExceeded)
  }
}
