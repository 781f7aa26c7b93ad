import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

/// Items are whole or withdrawn, and their bytes are those of the moment when the call returned.
@Suite(.inTemporaryDirectory(.memory)) struct ItemTests {
  private let directory = TemporaryDirectory.current

  private func path(_ name: String) throws -> String { try #require(directory).file(name) }

  private func append(_ path: String, as name: String, to writer: ArchiveWriter) throws -> ItemOutcome {
    let descriptor = unsafe open(path, O_RDONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try writer.appendItem(descriptor: descriptor, as: Array(name.utf8))
  }

  private func extract(_ archive: [UInt8], to name: String) throws -> ExtractSummary {
    let file = try path(name + ".tar.zst")
    try FileTree.write(archive, to: file)
    let reader = try ArchiveReader(path: Array(file.utf8))
    #expect(try reader.verify().isHealthy)
    return try ArchiveReader(path: Array(file.utf8)).extract(to: Array(path(name).utf8))
  }

  private func content(_ name: String) throws -> [UInt8]? {
    FileManager.default.contents(atPath: try path(name)).map { Array($0) }
  }

  @Test(arguments: [false, true]) func bytesAreCapturedWhenTheCallReturns(isSerial: Bool) throws {
    var options = WriterOptions()
    options.chunkByteCount = 256 << 10
    options.isSerial = isSerial
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: options)
    let tree = try path("tree")
    try Engine.makeTree(tree, seed: 11, fileCount: 300, largeByteCount: 1_500_000)
    try Shell.script("cp -a tree expected", directory: path(""))
    guard case .complete = try append(tree, as: "tree", to: writer) else { return #expect(Bool(false)) }
    let small = try path("small")
    let large = try path("large")
    try FileTree.write(Array("first".utf8), to: small)
    try FileTree.write([UInt8](repeating: 7, count: 3_000_000), to: large)
    guard case .complete = try append(small, as: "s", to: writer) else { return #expect(Bool(false)) }
    guard case .complete = try append(large, as: "l", to: writer) else { return #expect(Bool(false)) }
    // In place, so that open descriptors see it.
    try Shell.script(
      """
      find tree -type f -exec sh -c 'for f; do : > "$f"; done' sh {} +; : > small; : > large; rm -r tree
      """, directory: path(""))
    _ = try writer.finish()
    _ = try extract(sink.content, to: "out")
    #expect(try content("out/s") == Array("first".utf8))
    #expect(try content("out/l") == [UInt8](repeating: 7, count: 3_000_000))
    #expect(try Shell.script("diff -r expected out/tree && echo same", directory: path("")).contains("same"))
  }

  @Test func aDirectoryWithAFileThatShrinksIsWithdrawnAndCanBeAppendedAgain() throws {
    let tree = try path("t")
    try FileManager.default.createDirectory(atPath: tree, withIntermediateDirectories: true)
    let large = "\(tree)/large"
    for name in ["a", "stale", "z"] { try FileTree.write(Array(name.utf8), to: "\(tree)/\(name)") }
    try FileTree.write([UInt8](repeating: 3, count: 1_000_000), to: large)
    // One thread: the file shrinks when what comes before it is written.
    let sink = MemorySink(before: { number in if number == 1 { _ = unsafe truncate(large, 1000) } })
    var options = WriterOptions()
    options.chunkByteCount = 64 << 10
    options.isSerial = true
    let writer = try ArchiveWriter(to: sink, options: options)
    let first = try append(tree, as: "t", to: writer)
    guard case .partial(let error) = first else { return #expect(Bool(false), "\(first)") }
    #expect(error.description.contains("t/large: shrank"))
    #expect(writer.withdrawnMembers.prefixes == [Array("t".utf8)])
    #expect(writer.withdrawnMembers.pathHashes.isEmpty)

    try FileManager.default.removeItem(atPath: "\(tree)/stale")
    guard case .complete = try append(tree, as: "t", to: writer) else { return #expect(Bool(false)) }
    guard case .refused = try append(tree, as: "t", to: writer) else { return #expect(Bool(false)) }
    let withdrawn = writer.withdrawnMembers
    #expect(withdrawn.prefixes.isEmpty)
    #expect(withdrawn.pathHashes == [XXH3.hash64(Array("t/stale".utf8).span)])
    _ = try writer.finish()
    _ = try extract(sink.content, to: "out")
    #expect(try content("out/t/z") == Array("z".utf8))
    #expect(try content("out/t/large")?.count == 1000)
  }

  @Test func aNameThatIsTakenIsRefusedAndChangesNothing() throws {
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink)
    let member = Member(path: Array("a/b".utf8), kind: .file)
    guard case .complete = try writer.appendItem(member, content: [1]) else { return #expect(Bool(false)) }
    guard case .refused(let error) = try writer.appendItem(member, content: [2]) else { return #expect(Bool(false)) }
    #expect(error.code == .exists && error.description.contains("a/b"))
    for bad in ["", "/x", "x/../y", "x//y", "./x", "x/"] {
      let outcome = try writer.appendItem(Member(path: Array(bad.utf8), kind: .file), content: [1])
      guard case .refused = outcome else { return #expect(Bool(false), "\(bad)") }
    }
    #expect(writer.withdrawnMembers.prefixes.isEmpty)
    let summary = try writer.finish()
    #expect(summary.entryCount == 1 && summary.warningCount == 0)
  }

  @Test func hardLinksNeverLeadToAnotherItem() throws {
    let tree = try path("h")
    try FileManager.default.createDirectory(atPath: "\(tree)/one", withIntermediateDirectories: true)
    try FileTree.write([5], to: "\(tree)/one/a")
    try Shell.script("mkdir h/two; ln h/one/a h/one/b; ln h/one/a h/two/c", directory: path(""))
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink)
    guard case .complete = try append("\(tree)/one", as: "one", to: writer) else { return #expect(Bool(false)) }
    guard case .complete = try append("\(tree)/two", as: "two", to: writer) else { return #expect(Bool(false)) }
    _ = try writer.finish()
    _ = try extract(sink.content, to: "out")
    let links = try Shell.script("stat -c %h out/one/a out/one/b out/two/c", directory: path(""))
    #expect(links.split(whereSeparator: \.isWhitespace) == ["2", "2", "1"])
  }

  @Test func theManifestIsKnownBeforeTheMembersAndWholeAtTheEnd() throws {
    var options = WriterOptions()
    options.manifest = [("k", "front")]
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: options)
    _ = try writer.appendItem(Member(path: [0x61], kind: .file), content: [1])
    _ = try writer.finish(closingManifest: [("end", "back")])
    let file = try path("m.tar.zst")
    try FileTree.write(sink.content, to: file)
    for usesPipe in [false, true] {
      let seen = Locked<[String]>([])
      let onEvent: @Sendable (ReaderEvent) -> Void = { event in
        if case .manifest(let pairs) = event { seen.withLock { $0 += pairs.map { "\($0.key)=\($0.value)" } } }
      }
      let summary: ExtractSummary
      if usesPipe {
        let pipe = Pipe()
        pipe.fileHandleForWriting.write(Data(sink.content))
        try pipe.fileHandleForWriting.close()
        summary = try ArchiveReader(descriptor: pipe.fileHandleForReading.fileDescriptor, onEvent: onEvent)
          .extract(to: Array(path("pipe").utf8))
      } else {
        summary = try ArchiveReader(path: Array(file.utf8), onEvent: onEvent).extract(to: Array(path("file").utf8))
      }
      #expect(seen.withLock { $0 } == ["k=front"])
      #expect(summary.manifest.map { "\($0.key)=\($0.value)" } == ["k=front", "end=back"])
    }
  }
}
