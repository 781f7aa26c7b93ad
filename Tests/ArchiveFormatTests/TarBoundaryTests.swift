import Testing

@testable import ArchiveFormat

/// Headers that are just wrong: one more than a limit, or without the last byte that makes them right.
@Suite struct TarBoundaryTests {
  private func fault(_ stream: [UInt8]) -> FormatError? {
    do throws(FormatError) {
      _ = try TarReading(stream + RawTar.end)
      return nil
    } catch { return error }
  }

  /// Volume labels and foreign ACLs are passed over: their size is checked like that of a file.
  @Test(arguments: ["V", "A"] as [Character]) func sizesOfWhatIsPassedOver(type: Character) throws {
    let size = Int64(TarLimits.maximumByteCount)
    #expect(fault(RawTar.header("label", size: size + 1, type: type))?.code == .limitExceeded)
    #expect(fault(RawTar.header("label", size: .max, type: type))?.code == .limitExceeded)
    // What is allowed is not there.
    #expect(fault(RawTar.header("label", size: size, type: type))?.code != .limitExceeded)
  }

  @Test func recordsEndWithANewline() throws {
    for body in ["11 path=abX", "11 path=ab", "12 path=ab\n", "10 path=ab\n"] {
      let reason = try tarRejection(RawTar.pax(body: RawTar.bytes(body)) + RawTar.entry("x"))
      #expect(reason?.code == .malformed, "\(body)")
    }
    #expect(
      try TarReading(RawTar.pax(body: RawTar.bytes("11 path=ab\n")) + RawTar.entry("x") + RawTar.end).rejected.isEmpty)
  }

  /// Empty extents count too: they cost time.
  @Test func extentsAreCounted() throws {
    var map = SparseMap(realByteCount: 1 << 40)
    for _ in 0..<TarLimits.maximumSparseExtentCount { try map.append(offset: 7, byteCount: 0) }
    let error = #expect(throws: FormatError.self) { try map.append(offset: 7, byteCount: 0) }
    #expect(error?.code == .limitExceeded && map.extents.isEmpty)
  }

  /// A map that goes on behind its member is refused, and what follows is read.
  @Test func aSparseMapEndsWithItsMember() throws {
    let records = RawTar.pax([
      "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s", "GNU.sparse.realsize": "1048576",
    ])
    let map = RawTar.bytes("200\n" + String(repeating: "1\n1\n", count: 127))
    let member = RawTar.entry(RawTar.bytes("GNUSparseFile.0/s"), Array(map.prefix(512)))
    let reading = try TarReading(records + member + RawTar.entry("after", "1") + RawTar.end)
    #expect(reading.rejected.count == 1 && reading.rejected.first?.reason.code == .malformed)
    #expect(reading.members.map(\.member.path) == [RawTar.bytes("after")])
  }
}
