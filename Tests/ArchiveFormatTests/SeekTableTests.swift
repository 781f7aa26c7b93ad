import ArchiveFormat
import Testing

@Suite struct SeekTableTests {
  /// By hand, from the description of the seekable format.
  static let bytes: [UInt8] = [
    0x5E, 0x2A, 0x4D, 0x18, 25, 0, 0, 0,
    1, 0, 0, 0, 2, 1, 0, 0,
    0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0,
    2, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8F,
  ]
  static let entries: [SeekTable.Entry] = [
    .init(compressedByteCount: 1, decompressedByteCount: 258),
    .init(compressedByteCount: .max, decompressedByteCount: 0),
  ]

  @Test func bytesAreThoseOfTheFormat() throws {
    #expect(try SeekTable.encodedFrame(Self.entries) == Self.bytes)
    #expect(try SeekTable.parse(Self.bytes.span) == Self.entries)
    let footer = try SeekTable.parseFooter(Self.bytes.span.extracting(24..<33))
    #expect(footer?.frameCount == 2)
    #expect(footer?.tableByteCount == 33)
    #expect(try parseSeekTable(SeekTable.encodedFrame([])) == [])
  }

  @Test func tablesWithChecksumsAreRead() throws {
    let bytes: [UInt8] = [
      0x5E, 0x2A, 0x4D, 0x18, 21, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0, 9, 9, 9, 9, 1, 0, 0, 0, 0x80, 0xB1, 0xEA, 0x92, 0x8F,
    ]
    #expect(try SeekTable.parse(bytes.span) == [Self.entries[0]])
  }

  @Test func damageNeverTraps() {
    for bit in 0..<(Self.bytes.count * 8) {
      var damaged = Self.bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      let found = try? SeekTable.parse(damaged.span)
      // The unused bits 0 and 1 of the descriptor mean nothing; verify compares the whole table.
      if bit != 28 * 8, bit != 28 * 8 + 1 { #expect(found != Self.entries, "bit \(bit)") }
    }
    for count in 0..<Self.bytes.count {
      #expect(throws: FormatError.self) { try SeekTable.parse(Self.bytes.span.extracting(0..<count)) }
    }
    #expect(throws: FormatError.self) { try SeekTable.parseFooter([1, 0, 0, 8, 0, 0xB1, 0xEA, 0x92, 0x8F].span) }
    #expect((try? SeekTable.parseFooter([UInt8](repeating: 0, count: 9).span)) == .some(nil))
  }
}
