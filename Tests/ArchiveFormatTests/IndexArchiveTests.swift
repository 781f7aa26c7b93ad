import ArchiveFormat
import Foundation
import Testing

/// A whole archive of raw frames: other programs must read it.
@Suite struct IndexArchiveTests {
  static func archive() throws -> (bytes: [UInt8], content: [UInt8]) {
    var accumulator = try IndexAccumulator(settings: IndexFrameTests.settings, opening: IndexFrameTests.opening)
    var (bytes, content) = ([] as [UInt8], [] as [UInt8])
    func chunk(_ piece: [UInt8]) -> ChunkRecord {
      let frame = ZstdFramingTests.rawFrame(piece)
      if bytes.isEmpty { bytes = frame + accumulator.preambleFrame } else { bytes += frame }
      content += piece
      return ChunkRecord(
        storedByteCount: UInt32(frame.count), contentByteCount: UInt32(piece.count), storedHash: hash64(frame),
        isStored: true)
    }
    func close(_ page: IndexPage) throws {
      let payload = ZstdFramingTests.rawFrame(try page.encoded())
      let decodedByteCount = try page.encoded().count
      let frame = try PageFrame.wrap(compressed: payload.span, decodedByteCount: decodedByteCount)
      bytes += frame
      try accumulator.add(try PageSummary(page: page, frame: frame.span))
    }
    for number in 0..<3 as Range<UInt8> {
      var member = Member(path: [0x61 + number], kind: .file)
      member.byteCount = 300_000
      let hash = Hash128(high: 0, low: 0)
      let record = IndexedMember(member: member, headerByteCount: 512, contentHash: hash)
      let first = chunk([UInt8](repeating: number, count: 200_512))
      let second = chunk([UInt8](repeating: 9, count: Int(record.tarByteCount) - 200_512))
      try close(IndexPage(chunks: [first, second], members: [record]))
    }
    try close(.end(chunk: chunk([UInt8](repeating: 0, count: 1024))))
    for frame in try accumulator.finish(closing: Manifest()) { bytes += frame }
    return (bytes, content)
  }

  @Test func zstdReadsTheContent() throws {
    let (bytes, content) = try Self.archive()
    let result = try ZstdFramingTests.run(["zstd", "-dcq"], input: bytes)
    #expect(result.status == 0)
    #expect(result.output == content)
  }

  /// A Python package that reads seek tables.
  enum SeekTableReader: String, CaseIterable, Sendable {
    case pyzstd = "f=pyzstd.SeekableZstdFile(sys.argv[1]); n=f.seek(0,2)"
    case indexedZstd = "f=indexed_zstd.IndexedZstdFile(sys.argv[1]); n=f.size()"

    /// Its name in Python.
    var module: String { self == .pyzstd ? "pyzstd" : "indexed_zstd" }

    /// Those that are installed; the tests of the others are shown as skipped.
    static let installed = allCases.filter { reader in
      (try? ZstdFramingTests.run(["python3", "-c", "import \(reader.module)"], input: []).status) == 0
    }
  }

  @Test(
    .enabled(if: SeekTableReader.installed.contains(.pyzstd), "needs the Python package pyzstd"))
  func seekTableIsUsedByPyzstd() throws { try seekTableIsUsed(by: .pyzstd) }

  @Test(
    .enabled(if: SeekTableReader.installed.contains(.indexedZstd), "needs the Python package indexed_zstd"))
  func seekTableIsUsedByIndexedZstd() throws { try seekTableIsUsed(by: .indexedZstd) }

  private func seekTableIsUsed(by reader: SeekTableReader) throws {
    let (bytes, content) = try Self.archive()
    let code = "import \(reader.module), sys; \(reader.rawValue); f.seek(650000); p=f.read(20); print(n, p.hex())"
    let result = try ZstdFramingTests.run(["python3", "-c", code, "/dev/stdin"], input: bytes)
    let expected = content[650_000..<650_020].map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }
    #expect(String(decoding: result.output, as: UTF8.self) == "\(content.count) \(expected.joined())\n")
  }

  @Test func everythingIsFoundFromTheEnd() throws {
    let (bytes, _) = try Self.archive()
    let footer = try SeekTable.parseFooter(bytes.span.extracting((bytes.count - 9)..<bytes.count))
    let rootEnd = bytes.count - (footer?.tableByteCount ?? 0)
    let rootByteCount = ArchiveRoot.frameByteCount(footer: bytes.span.extracting((rootEnd - 12)..<rootEnd)) ?? 0
    let root = try ArchiveRoot(decodingFrame: bytes.span.extracting((rootEnd - rootByteCount)..<rootEnd))
    #expect(try root.rootOffset == UInt64(rootEnd - rootByteCount))
    var offset = Int(try root.directoriesOffset)
    let size = Int(root.directories[0].storedByteCount)
    let directory = try PageDirectory(decodingFrame: bytes.span.extracting(offset..<(offset + size)))
    offset = try root.preamble.encodedFrame().count
    for descriptor in directory.pages {
      offset += Int(descriptor.framesStoredByteCount)
      let frame = bytes.span.extracting(offset..<(offset + Int(descriptor.storedByteCount)))
      let hash = XXH3.hash64(frame)
      #expect(hash == descriptor.pageHash)
      let parsed = try PageFrame.parse(frame)
      #expect(parsed.decodedByteCount > 0)
      offset += Int(descriptor.storedByteCount)
    }
    #expect(UInt64(offset) == (try root.directoriesOffset))
  }
}
