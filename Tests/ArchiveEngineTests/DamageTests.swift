import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

/// Every cut and every flipped bit of a small archive is found, by every way to read it.
@Suite(.inTemporaryDirectory(.memory)) struct DamageTests {
  /// All kinds of frames and members in less than 2 KiB.
  static func smallArchive() throws -> [UInt8] {
    let sink = MemorySink()
    var options = WriterOptions()
    options.manifest = [("app", "demo")]
    options.threadCount = 1
    let writer = try ArchiveWriter(to: sink, options: options)
    try writer.append(Member(path: Array("d".utf8), kind: .directory, mode: 0o755))
    try writer.append(Member(path: Array("d/a".utf8), kind: .file), content: Array("hello\n".utf8))
    var link = Member(path: Array("d/l".utf8), kind: .symlink)
    link.linkTarget = Array("a".utf8)
    try writer.append(link)
    var random = SplitMix64(seed: 3)
    try writer.append(Member(path: Array("d/r".utf8), kind: .file), content: random.bytes(200))
    _ = try writer.finish()
    return sink.content
  }

  /// What a damaged archive may not do: look healthy.
  private static func isFound(_ verify: () throws -> VerifyReport) -> Bool {
    (try? verify().isHealthy) != true
  }

  @Test func theUndamagedArchiveIsHealthy() throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try Self.smallArchive()
    #expect(archive.count < 4096)
    let reader = try Engine.reader(archive, in: directory)
    #expect(reader.isIndexed)
    #expect(try reader.verify().isHealthy && reader.verify(quick: true).isHealthy)
    #expect(try Engine.withPipe(archive) { try ArchiveReader(descriptor: $0).verify() }.isHealthy)
  }

  @Test(arguments: [false, true]) func everyCutIsFound(isPiped: Bool) throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try Self.smallArchive()
    let (path, out) = (directory.file("a"), directory.file("out"))
    try FileTree.write(archive, to: path)
    try FileManager.default.createDirectory(atPath: directory.file("tree"), withIntermediateDirectories: false)
    /// Opens the first bytes and uses the reader for one thing.
    func use<R>(_ length: Int, _ body: (ArchiveReader) throws -> R) throws -> R {
      if isPiped {
        return try Engine.withPipe(Array(archive[..<length])) {
          try body(ArchiveReader(descriptor: $0, threadCount: 1))
        }
      }
      try FileTree.write(Array(archive[..<length]), to: path)
      return try body(ArchiveReader(path: Array(path.utf8), threadCount: 1))
    }
    // All but the seek table is there: a reader that needs none may go on, and says so only when it verifies.
    let rootEnd = archive.count - (try Engine.frames(archive).others.last?.count ?? 0)
    for length in 0..<archive.count {
      #expect(Self.isFound { try use(length) { try $0.verify() } }, "verify, cut to \(length)")
      #expect(Self.isFound { try use(length) { try $0.verify(quick: true) } }, "quick, cut to \(length)")
      var options = ExtractOptions()
      options.syncs = false
      let isMade = (try? use(length) { try $0.extract(to: Array(out.utf8), options: options) }) != nil
      #expect(FileManager.default.fileExists(atPath: out) == isMade, "cut to \(length)")
      let isListed = (try? use(length) { reader in try reader.list { _ in } }) != nil
      let isCompared = (try? use(length) { try $0.compare(with: Array(directory.file("tree").utf8)) { _ in } }) != nil
      let mayBeRead = length == rootEnd && !isPiped
      #expect(isMade == mayBeRead && isListed == mayBeRead && isCompared == mayBeRead, "cut to \(length)")
      if isMade {
        #expect(try FileTree.read("\(out)/d/a") == Array("hello\n".utf8))
        try FileManager.default.removeItem(atPath: out)
      }
      // One member may well be whole; what comes out is then right.
      let sink = MemorySink()
      if (try? use(length) { try $0.read(Array("d/a".utf8), to: sink) }) != nil {
        #expect(sink.content == Array("hello\n".utf8), "cat, cut to \(length)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["a", "tree"])
  }

  @Test(arguments: 0..<8 as Range<UInt8>) func everyFlippedBitIsFound(bit: UInt8) throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try Self.smallArchive()
    let path = directory.file("a")
    for index in archive.indices {
      var damaged = archive
      damaged[index] ^= 1 << bit
      try FileTree.write(damaged, to: path)
      for isQuick in [false, true] {
        let isFound = Self.isFound { try ArchiveReader(path: Array(path.utf8), threadCount: 1).verify(quick: isQuick) }
        #expect(isFound, "byte \(index) of \(archive.count), quick: \(isQuick)")
      }
      let isFound = Self.isFound {
        try Engine.withPipe(damaged) { try ArchiveReader(descriptor: $0, threadCount: 1).verify() }
      }
      #expect(isFound, "byte \(index) of \(archive.count), from a pipe")
    }
  }

  /// What comes out of a damaged archive is right or nothing.
  @Test(arguments: [false, true]) func damagedArchivesGiveNoWrongContent(isPiped: Bool) throws {
    let directory = try #require(TemporaryDirectory.current)
    let archive = try Self.smallArchive()
    let (path, out) = (directory.file("a"), directory.file("out"))
    try FileTree.write(archive, to: path)
    _ = try ArchiveReader(path: Array(path.utf8)).extract(to: Array(directory.file("right").utf8))
    var options = ExtractOptions()
    options.syncs = false
    for seed in 0..<600 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      var damaged = archive
      for _ in 0...(seed % 3) {
        damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if damaged == archive { continue }
      let isMade: Bool
      if isPiped {
        isMade =
          (try? Engine.withPipe(damaged) {
            try ArchiveReader(descriptor: $0, threadCount: 1).extract(to: Array(out.utf8), options: options)
          }) != nil
      } else {
        try FileTree.write(damaged, to: path)
        isMade =
          (try? ArchiveReader(path: Array(path.utf8), threadCount: 1).extract(to: Array(out.utf8), options: options))
          != nil
      }
      #expect(FileManager.default.fileExists(atPath: out) == isMade, "seed \(seed)")
      if isMade {
        // Damage outside of what an extraction needs: what it made is right.
        for name in ["d/a", "d/r"] {
          #expect(
            try FileTree.read("\(out)/\(name)") == FileTree.read("\(directory.file("right"))/\(name)"), "seed \(seed)")
        }
        try FileManager.default.removeItem(atPath: out)
      }
      let sink = MemorySink()
      try? FileTree.write(damaged, to: path)
      if (try? ArchiveReader(path: Array(path.utf8), threadCount: 1).read(Array("d/a".utf8), to: sink)) != nil {
        #expect(sink.content == Array("hello\n".utf8), "seed \(seed)")
      }
    }
  }
}
