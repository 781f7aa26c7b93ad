internal import ArchiveEngine
internal import ArchiveIO
internal import TestSupport
internal import Testing

@testable import FuzzBodies

/// With an index every member is read by its own headers, and a global pax header would be seen by those alone who read the tar from its start.
@Suite(.inTemporaryDirectory(.memory)) struct GlobalHeaderTests {
  static func member(_ name: String, byteCount: Int = 3) -> [UInt8] {
    RawTar.header(Array(name.utf8), type: 0x30, size: UInt64(byteCount))
      + RawTar.padded([UInt8](repeating: 0x61, count: byteCount))
  }

  /// An archive with an index whose records are those of each member by itself.
  ///
  /// - Parameter isCut: the first member lies in two chunks.
  static func path(of stream: [UInt8], isCut: Bool = false) throws -> [UInt8] {
    // No lies, then for the first member: no cut behind it, and one at this offset in it.
    var choices = Choices(isCut ? [0, 0, 0, 0, 0, 0, 7, 0x10, 0x00] : [])
    let archive = try #require(IndexedForm.archive(of: stream, &choices))
    let path = try #require(TemporaryDirectory.current).file("archive")
    try FileTree.write(archive, to: path)
    return Array(path.utf8)
  }

  @Test func theSameArchiveWithoutOneIsRead() throws {
    let path = try Self.path(of: Self.member("a") + Self.member("b"))
    let reader = try ArchiveReader(path: path)
    #expect(reader.isIndexed)
    #expect(try reader.verify().isHealthy)
    #expect(try reader.verify().entryCount == 2)
  }

  @Test(arguments: ["uid=4321", "mtime=3", "comment=x"], [false, true])
  func itIsRefusedByEveryWayToRead(_ text: String, isCut: Bool) throws {
    let parts = text.split(separator: "=").map(String.init)
    let global = RawTar.extended("g", RawTar.record(parts[0], parts[1]))
    let path = try Self.path(of: global + Self.member("a", byteCount: 9000) + Self.member("b"), isCut: isCut)
    let report = try ArchiveReader(path: path).verify()
    #expect(report.chunkCount == (isCut ? 3 : 2))
    #expect(report.damages.contains { $0.message.contains("global pax header") }, "\(report.damages)")
    let directory = try #require(TemporaryDirectory.current)
    let error = #expect(throws: ArchiveError.self) {
      try ArchiveReader(path: path).extract(to: Array(directory.file("out").utf8))
    }
    #expect(error?.code == .mismatch && error?.message.contains("global pax header") == true)
    let bytes = try FileTree.read(String(decoding: path, as: UTF8.self))
    guard let pipe = FullPipe.holding(bytes) else {
      Issue.record("the archive does not fit into a pipe")
      return
    }
    let streamed = try ArchiveReader(descriptor: pipe.descriptor.rawValue).verify()
    #expect(!streamed.isHealthy)
  }
}
