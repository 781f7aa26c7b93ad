import ArchiveEngine
import ArchiveFormat
import Foundation
import TestSupport
import Testing

/// Every cut of a small archive, and three flipped bits of every byte, are found when it is read from a file.
@Suite(.inTemporaryDirectory(.memory)) struct DamageTests {
  private func smallArchive() throws -> [UInt8] {
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: WriterOptions())
    try writer.append(Member(path: Array("d".utf8), kind: .directory, mode: 0o755))
    try writer.append(Member(path: Array("d/a".utf8), kind: .file), content: Array("hello\n".utf8))
    var link = Member(path: Array("d/l".utf8), kind: .symlink)
    link.linkTarget = Array("a".utf8)
    try writer.append(link)
    var random = SplitMix64(seed: 3)
    try writer.append(Member(path: Array("d/r".utf8), kind: .file), content: random.bytes(700))
    _ = try writer.finish()
    return sink.content
  }

  /// Nothing may take a damaged archive for a healthy one. A quick check that cannot be made because the index is not found
  /// counts as found here: the quick check is for archives with an index.
  private func isFound(_ bytes: [UInt8], quick: Bool, path: String) throws -> Bool {
    try FileTree.write(bytes, to: path)
    do throws(ArchiveError) {
      let reader = try ArchiveReader(path: Array(path.utf8), threadCount: 1)
      if quick && !reader.isIndexed { return true }
      return try !reader.verify(quick: quick).isHealthy
    } catch { return true }
  }

  @Test func everyCutIsFound() throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try smallArchive()
    #expect(try !isFound(archive, quick: false, path: directory.file("a")))
    for length in 0..<archive.count {
      let isFound = try isFound(Array(archive[..<length]), quick: false, path: directory.file("a"))
      #expect(isFound, "cut to \(length) of \(archive.count) bytes")
    }
  }

  @Test func flippedBitsOfEveryByteAreFound() throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try smallArchive()
    #expect(try !isFound(archive, quick: true, path: directory.file("a")))
    for index in archive.indices {
      for bit in [0, 3, 7] {
        var damaged = archive
        damaged[index] ^= 1 << UInt8(bit)
        #expect(try isFound(damaged, quick: false, path: directory.file("a")), "byte \(index) bit \(bit)")
        #expect(try isFound(damaged, quick: true, path: directory.file("a")), "quick: byte \(index) bit \(bit)")
      }
    }
  }

  @Test func readersOfDamagedArchivesEndWithErrors() throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try smallArchive()
    for seed in 0..<300 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      var damaged = archive
      for _ in 0...(seed % 3) {
        damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      let path = directory.file("a")
      try FileTree.write(damaged, to: path)
      let out = directory.file("out")
      try? FileManager.default.removeItem(atPath: out)
      do {
        let reader = try ArchiveReader(path: Array(path.utf8), threadCount: 1)
        try reader.list { _ in }
        var options = ExtractOptions()
        options.syncs = false
        _ = try reader.extract(to: Array(out.utf8), options: options)
      } catch {
        #expect(!FileManager.default.fileExists(atPath: out), "seed \(seed): a failed extraction left its directory")
      }
    }
  }

  @Test func anIndexThatDisagreesWithTheTarIsRefused() throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try smallArchive()
    // The mode of a member is changed in the index alone, and everything above it is made to fit.
    let forged = try Forgery.archive(archive) { page in
      for index in page.members.indices where page.members[index].member.path == Array("d/a".utf8) {
        page.members[index].member.mode = 0o777
      }
    }
    let path = directory.file("forged")
    try FileTree.write(forged, to: path)
    let reader = try ArchiveReader(path: Array(path.utf8))
    let report = try reader.verify()
    #expect(!report.isHealthy)
    #expect(report.damages.contains { $0.message.contains("777") && $0.message.contains("644") }, "\(report.damages)")
    let error = #expect(throws: ArchiveError.self) { try reader.read(Array("d/a".utf8), to: MemorySink()) }
    #expect(error?.code == .mismatch)
    let extraction = #expect(throws: ArchiveError.self) { _ = try reader.extract(to: Array(directory.file("x").utf8)) }
    #expect(extraction?.code == .mismatch)
    #expect(try reader.verify(quick: true).isHealthy, "the quick check relies on the index")
  }
}
