import ArchiveEngine
import ArchiveIO
import BenchmarkSupport
import Foundation
import TestSupport
import Testing

/// The limits that runs are compared with cover what the runs do, neither more nor less.
@Suite(.inTemporaryDirectory(.memory)) struct LimitTests {
  private func directory() throws -> TemporaryDirectory { try #require(TemporaryDirectory.current) }

  /// A tree with directories in each other, empty and small files, files of several pieces, and links; its files and bytes.
  private func makeTree(_ path: String) throws -> (fileCount: Int, byteCount: UInt64) {
    var random = SplitMix64(seed: 31)
    var sizes = [0, 1, 4_095, 1 << 20, (1 << 20) + 1, 3_500_000]
    sizes += (0..<150).map { _ in Int(random.next() % 5_000) }
    for (index, size) in sizes.enumerated() {
      let place = "\(path)/d\(index % 3)/e/f\(index % 4)"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      // Half of it compresses.
      try FileTree.write(
        random.bytes(size / 2) + [UInt8](repeating: 9, count: size - size / 2), to: "\(place)/\(index)")
    }
    try FileManager.default.createDirectory(atPath: "\(path)/empty", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: "\(path)/link", withDestinationPath: "nowhere")
    return (sizes.count, UInt64(sizes.reduce(0, +)))
  }

  @Test(arguments: [1, 3]) func everyFileIsReadWhole(threads: Int) throws {
    let directory = try directory()
    let expected = try makeTree(directory.file("t"))
    let limit = try FileLimit.reading(directory: directory.file("t"), threadCount: threads)
    #expect((limit.itemCount, limit.byteCount) == (expected.fileCount, expected.byteCount))
    #expect(limit.threadCount == threads && limit.seconds > 0)
  }

  @Test(arguments: [1, 3]) func theSameFilesAreMade(threads: Int) throws {
    let directory = try directory()
    let expected = try makeTree(directory.file("t"))
    let made = try FileLimit.make(treeLike: directory.file("t"), at: directory.file("made"), threadCount: threads)
    #expect((made.itemCount, made.byteCount) == (expected.fileCount, expected.byteCount))
    let manager = FileManager.default
    let names = try manager.subpathsOfDirectory(atPath: directory.file("t")).sorted()
    #expect(try manager.subpathsOfDirectory(atPath: directory.file("made")).sorted() == names)
    for name in names {
      let old = try manager.attributesOfItem(atPath: directory.file("t/\(name)"))
      let new = try manager.attributesOfItem(atPath: directory.file("made/\(name)"))
      #expect(old[.type] as? FileAttributeType == new[.type] as? FileAttributeType, "\(name)")
      if old[.type] as? FileAttributeType == .typeRegular {
        #expect(old[.size] as? Int == new[.size] as? Int, "\(name)")
      }
    }
  }

  @Test func whatWasMadeIsRemoved() throws {
    let directory = try directory()
    _ = try makeTree(directory.file("t"))
    let limit = try FileLimit.creating(treeLike: directory.file("t"), at: directory.file("made"))
    #expect(limit.seconds > 0)
    #expect(!FileManager.default.fileExists(atPath: directory.file("made")))
    // What is there already is not touched.
    #expect(throws: (any Error).self) {
      try FileLimit.creating(treeLike: directory.file("t"), at: directory.file("t/d0"))
    }
    #expect(FileManager.default.fileExists(atPath: directory.file("t/d0/e/f0/0")))
  }

  @Test(arguments: [1, 3]) func everyChunkGoesThroughTheCodec(threads: Int) throws {
    let directory = try directory()
    _ = try makeTree(directory.file("t"))
    let path = directory.file("a.tar.zst")
    var options = WriterOptions()
    options.chunkByteCount = 256 << 10
    try FileTree.write([], to: path)
    let file = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.writeOnly])
    let writer = try ArchiveWriter(to: file.rawValue, options: options)
    try writer.appendTree(at: Array(directory.file("t").utf8), as: Array("t".utf8))
    let summary = try writer.finish()
    let limit = try CodecLimit.measure(archive: path, chunkByteCount: 256 << 10, threadCount: threads)
    for measure in [limit.compression, limit.decompression] {
      #expect(UInt64(measure.itemCount) == summary.chunkCount)
      #expect(measure.byteCount == summary.tarByteCount)
      #expect(measure.seconds > 0)
    }
  }

  @Test func whatIsNoArchiveIsAnError() throws {
    let directory = try directory()
    try FileTree.write(Array("no archive at all".utf8), to: directory.file("text"))
    #expect(throws: (any Error).self) { try CodecLimit.measure(archive: directory.file("text")) }
    #expect(throws: (any Error).self) { try FileLimit.reading(directory: directory.file("text")) }
    #expect(throws: (any Error).self) { try FileLimit.reading(directory: directory.file("absent")) }
  }
}
