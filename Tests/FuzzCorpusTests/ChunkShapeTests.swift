internal import ArchiveEngine
internal import ArchiveFormat
internal import ArchiveIO
internal import TestSupport
internal import Testing

@testable import FuzzBodies

/// What the index says of a chunk besides its sizes and hash is true of the frame, whoever reads.
@Suite(.inTemporaryDirectory(.memory)) struct ChunkShapeTests {
  struct Lie: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The choices of the program that makes the archive: how often it lies, about what, and where.
    let choices: [UInt8]
    let says: String
  }

  static let lies = [
    Lie(
      testDescription: "a chunk of two frames", choices: [0, 0, 0, 15, 0, 0, 7, 0x10, 0x00],
      says: "one zstd frame"),
    Lie(
      testDescription: "a compressed chunk that is called stored", choices: [0, 0, 0, 23, 0, 0, 7, 0x10, 0x00],
      says: "compressed where the index states the contrary"),
  ]

  static func archive(_ bytes: [UInt8]) throws -> [UInt8] {
    var choices = Choices(bytes)
    let members = GlobalHeaderTests.member("a", byteCount: 9000) + GlobalHeaderTests.member("b")
    return try #require(IndexedForm.archive(of: members, &choices))
  }

  @Test(arguments: lies) func aLieAboutAChunkIsFoundByEveryWayToRead(_ lie: Lie) throws {
    let directory = try #require(TemporaryDirectory.current)
    let path = Array(directory.file("archive").utf8)
    try FileTree.write(try Self.archive(lie.choices), to: directory.file("archive"))
    for isQuick in [false, true] {
      let report = try ArchiveReader(path: path).verify(quick: isQuick)
      #expect(report.damages.contains { $0.message.contains(lie.says) }, "\(report.damages)")
      #expect(report.damages.allSatisfy { $0.chunk != nil }, "the chunk is not named")
    }
    let error = #expect(throws: ArchiveError.self) {
      try ArchiveReader(path: path).extract(to: Array(directory.file("out").utf8))
    }
    #expect(error?.code == .mismatch && error?.message.contains(lie.says) == true)
    let bytes = try FileTree.read(directory.file("archive"))
    guard let pipe = FullPipe.holding(bytes) else {
      Issue.record("the archive does not fit into a pipe")
      return
    }
    #expect(try !ArchiveReader(descriptor: pipe.descriptor.rawValue).verify().isHealthy)
  }

  @Test func withoutALieItIsHealthy() throws {
    let directory = try #require(TemporaryDirectory.current)
    let path = Array(directory.file("archive").utf8)
    try FileTree.write(try Self.archive([0, 0, 0, 0, 0, 0, 7, 0x10, 0x00]), to: directory.file("archive"))
    let report = try ArchiveReader(path: path).verify()
    #expect(report.isHealthy && report.chunkCount == 3, "\(report.damages)")
  }

  /// A page says where its chunks lie relative to itself, but the archive's first chunk is looked for at the beginning too: there a copy of the
  /// page claims what the page has claimed.
  @Test func salvageTakesAPageThatClaimsTheChunksOfAnother() throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try Self.archive([0, 0, 0, 0, 0, 0, 7, 0x10, 0x00])
    var bytes: [UInt8] = []
    var (position, pageCount) = (0, 0)
    while position < archive.count {
      var walker = ZstdFrameWalker()
      let rest = Array(archive[position...])
      let byteCount = try walker.consume(rest.span, in: 0..<rest.count).consumed
      let frame = Array(rest.prefix(byteCount))
      let isPage = try SkippableFrame.kind(frame.span) == .page
      if isPage { pageCount += 1 }
      bytes += isPage && pageCount == 1 ? frame + frame : frame
      position += byteCount
    }
    #expect(pageCount == 2 && bytes.count > archive.count)
    try FileTree.write(bytes, to: directory.file("archive"))
    var losses: [String] = []
    var options = ExtractOptions()
    options.syncs = false
    let reader = try ArchiveReader(path: Array(directory.file("archive").utf8))
    _ = try reader.salvage(to: Array(directory.file("out").utf8), options: options) { losses.append($1) }
    #expect(try FileTree.read(directory.file("out/a")) == [UInt8](repeating: 0x61, count: 9000))
    #expect(try FileTree.read(directory.file("out/b")) == [0x61, 0x61, 0x61])
    #expect(!losses.isEmpty, "the second page's chunk is nowhere, and nobody said so")
  }
}
