import ArchiveIO
import BenchmarkKit
import TestSupport
import Testing

@Suite(.inTemporaryDirectory(.memory)) struct CorpusTests {
  /// Names, types, modes, times, sizes and contents of a tree, in order.
  private func describe(_ path: String) throws -> [String] {
    let root = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.readOnly, .directory]))
    let walker = try DirectoryWalker(root: root)
    var lines: [String] = []
    while let step = walker.next() {
      guard case .entry(let entry) = step else { throw SystemError("walk", errno: 5) }
      let name = String(decoding: entry.relativePath, as: UTF8.self)
      var line = "\(name) \(entry.status.kind) \(entry.status.mode) \(entry.status.modificationSeconds)"
      switch entry.status.kind {
      case .regular:
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in try FileTree.read(path + "/" + name) { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        line += " \(entry.status.byteCount) \(hash)"
      case .symlink: line += " -> \(try FileSystem.readLink(at: walker.directoryDescriptor, entry.name))"
      default: break
      }
      lines.append(line)
    }
    return lines
  }

  private func make(_ kind: SyntheticCorpus.Kind, seed: UInt64, _ name: String) throws -> [String] {
    let directory = try #require(TemporaryDirectory.current)
    let path = directory.file(name)
    try FileSystem.makeDirectory(at: FileSystem.currentDirectory, Array(path.utf8), mode: 0o755)
    let root = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.readOnly, .directory]))
    try SyntheticCorpus(kind: kind, seed: seed, byteCount: 200_000).generate(in: root)
    return try describe(path)
  }

  @Test(arguments: SyntheticCorpus.Kind.allCases)
  func sameSeedGivesTheSameBytesAndAnotherSeedOthers(kind: SyntheticCorpus.Kind) throws {
    let first = try make(kind, seed: 7, "a")
    #expect(!first.isEmpty)
    #expect(try make(kind, seed: 7, "b") == first)
    #expect(try make(kind, seed: 8, "c") != first)
  }

  @Test func kindsAreWhatTheirNamesSay() throws {
    let tiny = try make(.tiny, seed: 1, "tiny")
    let huge = try make(.huge, seed: 1, "huge")
    #expect(tiny.count > 100 && huge.count == 2)
    _ = try make(.sparse, seed: 1, "sparse")
    let directory = try #require(TemporaryDirectory.current)
    let file = try FileSystem.status(
      at: FileSystem.currentDirectory, Array(directory.file("sparse/disk-0.img").utf8))
    #expect(file.allocatedByteCount < file.byteCount * 9 / 10, "holes take no space")
  }

  /// The same numbers on every machine, or results of different machines could not be compared.
  @Test func numbersOfASeedNeverChange() {
    var random = SeededRandom(seed: 1)
    let numbers = (0..<4).map { _ in random.below(1000) }
    #expect(numbers == [566, 745, 971, 444])
    #expect(random.bytes(3).count == 3 && random.bytes(0).isEmpty && random.bytes(8).count == 8)
    for _ in 0..<1000 {
      #expect((0..<7).contains(random.below(7)))
      #expect((0..<7).contains(random.skewed(below: 7)))
    }
  }

  @Test(arguments: [0, 1, 17, 5000]) func textHasExactlyTheLengthAskedFor(count: Int) {
    var random = SeededRandom(seed: 3)
    #expect(TextMaker(seed: 2).bytes(count, &random).count == count)
  }
}
