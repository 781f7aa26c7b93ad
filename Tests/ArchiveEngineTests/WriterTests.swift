import ArchiveFormat
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ArchiveEngine

/// The writer as others call it: members of all kinds and sources, what is refused, what a summary says.
@Suite(.inTemporaryDirectory(.memory)) struct WriterTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func file(_ path: String, byteCount: UInt64 = 0) -> Member {
    var member = Member(path: bytes(path), kind: .file)
    member.byteCount = byteCount
    return member
  }

  private func link(_ path: String, _ kind: MemberKind, to target: String) -> Member {
    var member = Member(path: bytes(path), kind: kind)
    member.linkTarget = bytes(target)
    return member
  }

  private func list(_ archive: [UInt8], _ directory: TemporaryDirectory) throws -> [ListedMember] {
    var members: [ListedMember] = []
    try Engine.reader(archive, in: directory).list { member throws(ArchiveError) in members.append(member) }
    return members
  }

  private func cat(_ path: String, _ archive: [UInt8], _ directory: TemporaryDirectory) throws -> [UInt8] {
    let sink = MemorySink()
    try Engine.reader(archive, in: directory).read(bytes(path), to: sink)
    return sink.content
  }

  @Test func membersOfAllKindsComeBack() throws {
    let directory = try #require(TemporaryDirectory.current)
    var random = SplitMix64(seed: 1)
    let (small, large) = (random.bytes(3000), random.bytes(300_000))
    var device = Member(path: bytes("d/null"), kind: .characterDevice, mode: 0o666)
    (device.deviceMajor, device.deviceMinor) = (1, 3)
    var rich = file("d/rich")
    rich.mode = 0o4751
    (rich.userID, rich.groupID) = (3_000_000, 4_000_000)
    (rich.userName, rich.groupName) = (bytes("ada"), [0xFF, 0xFE])
    rich.modificationTime = Timestamp(seconds: -3, nanoseconds: 999_999_999)
    rich.extendedAttributes = [ExtendedAttribute(name: bytes("user.a=b"), value: [0, 10, 61])]
    let members = [
      Member(path: bytes("d"), kind: .directory, mode: 0o1777), rich, link("d/soft", .symlink, to: "/no/where"),
      link("d/hard", .hardlink, to: "d/rich"), Member(path: bytes("d/fifo"), kind: .fifo, mode: 0o600), device,
    ]
    let sink = MemorySink()
    var options = WriterOptions()
    options.chunkByteCount = 64 << 10
    let writer = try ArchiveWriter(to: sink, options: options)
    for member in members { try writer.append(member, content: member.path == rich.path ? small : []) }
    try writer.append(file("bytes"), content: large)
    try writer.append(file("stream", byteCount: 300_000), read: Engine.stream(large, step: 777))
    try writer.append(file("small-stream", byteCount: 3000), read: Engine.stream(small, step: 1))
    try writer.append(file("empty-stream"), read: Engine.stream([], step: 1))
    let summary = try writer.finish()
    #expect(summary.entryCount == 10 && summary.fileCount == 5 && summary.warningCount == 0)
    #expect(summary.contentByteCount == 606_000)
    #expect(summary.archiveByteCount == UInt64(sink.content.count))

    rich.byteCount = 3000
    let listed = try list(sink.content, directory)
    #expect(listed.map(\.member).prefix(6) == [members[0], rich] + members[2...])
    #expect(listed[1].contentHash == XXH3.hash128(small.span))
    #expect(try cat("d/rich", sink.content, directory) == small)
    #expect(try cat("d/hard", sink.content, directory) == small)
    #expect(try cat("bytes", sink.content, directory) == large)
    #expect(try cat("stream", sink.content, directory) == large)
    #expect(try cat("small-stream", sink.content, directory) == small)
    #expect(try cat("empty-stream", sink.content, directory).isEmpty)
    #expect(try Engine.reader(sink.content, in: directory).verify().isHealthy)
    let info = try Engine.reader(sink.content, in: directory).info()
    #expect(info.digest == summary.digest && info.entryCount == 10 && info.chunkByteCount == 64 << 10)
    // However the content came, the chunks are the same.
    let chunks = listed.filter { [bytes("bytes"), bytes("stream")].contains($0.member.path) }.map(\.chunkCount)
    #expect(chunks.count == 2 && chunks[0] == chunks[1])
  }

  @Test func wrongCallsAreRefusedAndTheWriterGoesOn() throws {
    let directory = try #require(TemporaryDirectory.current)
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink)
    try writer.append(Member(path: bytes("d"), kind: .directory))
    try writer.append(file("d/a"), content: [1])
    func refuse(_ code: ArchiveError.Code, _ what: String, _ body: () throws(ArchiveError) -> Void) {
      do throws(ArchiveError) {
        try body()
        Issue.record("\(what) was taken")
      } catch { #expect(error.code == code, "\(what): \(error)") }
    }
    for path in ["", "/", "/a", "a/", "a//b", "../a", "a/..", "a/../b", "./a", "a/.", "..", "a\u{0}b"] {
      refuse(.invalidArgument, "path \(path)") { () throws(ArchiveError) in try writer.append(file(path), content: []) }
      refuse(.invalidArgument, "path \(path)") { () throws(ArchiveError) in
        try writer.append(file(path, byteCount: 1), read: { _ in })
      }
      refuse(.invalidArgument, "path \(path)") { () throws(ArchiveError) in
        try writer.appendTree(at: Array(directory.path.utf8), as: bytes(path))
      }
    }
    refuse(.exists, "a second d/a") { () throws(ArchiveError) in try writer.append(file("d/a"), content: [2]) }
    refuse(.exists, "a file in place of d") { () throws(ArchiveError) in try writer.append(file("d"), content: [2]) }
    refuse(.exists, "a stream d/a") { () throws(ArchiveError) in
      try writer.append(file("d/a", byteCount: 9_000_000), read: { _ in })
    }
    refuse(.invalidArgument, "a directory with content") { () throws(ArchiveError) in
      try writer.append(Member(path: bytes("e"), kind: .directory), content: [1])
    }
    refuse(.invalidArgument, "a stream for a FIFO") { () throws(ArchiveError) in
      try writer.append(Member(path: bytes("e"), kind: .fifo), read: { _ in })
    }
    refuse(.notFound, "a hard link to nothing") { () throws(ArchiveError) in
      try writer.append(link("e", .hardlink, to: "later"))
    }
    refuse(.invalidArgument, "a short stream") { () throws(ArchiveError) in
      try writer.append(file("short", byteCount: 100), read: Engine.stream([1, 2], step: 2))
    }
    refuse(.notFound, "a tree that is not there") { () throws(ArchiveError) in
      try writer.appendTree(at: Array(directory.file("none").utf8), as: bytes("none"))
    }
    try writer.append(file("d/b"), content: [3])
    let summary = try writer.finish()
    #expect(summary.entryCount == 3)
    #expect(try list(sink.content, directory).map(\.member.path) == [bytes("d"), bytes("d/a"), bytes("d/b")])
    refuse(.invalidArgument, "a second finish") { () throws(ArchiveError) in _ = try writer.finish() }
  }

  /// What the format cannot express is an error of the run, never a bad archive.
  @Test func membersThatNoHeaderHoldsEndTheRun() throws {
    var members = [link("l", .symlink, to: ""), link("l", .symlink, to: "a\u{0}")]
    for change in [
      { $0.mode = 0o10000 }, { $0.userID = 1 << 40 }, { $0.modificationTime.nanoseconds = 1_000_000_000 },
      { $0.userName = [0] }, { $0.linkTarget = [0x61] }, { $0.deviceMajor = 1 },
      { $0.extendedAttributes = [ExtendedAttribute(name: [], value: [])] },
      { $0.extendedAttributes = [ExtendedAttribute(name: [0x61], value: [UInt8](repeating: 0, count: 2 << 20))] },
      { $0.extendedAttributes = ["user.b", "user.a"].map { ExtendedAttribute(name: Array($0.utf8), value: []) } },
    ] as [(inout Member) -> Void] {
      var member = file("f")
      change(&member)
      members.append(member)
    }
    for (index, member) in members.enumerated() {
      for isLarge in [false, true] where member.kind == .file || !isLarge {
        let error = #expect(throws: ArchiveError.self, "member \(index)") {
          let writer = try ArchiveWriter(to: MemorySink())
          try writer.append(
            member, content: [UInt8](repeating: 1, count: isLarge ? 3 << 20 : 10 * (member.kind == .file ? 1 : 0)))
          _ = try writer.finish()
        }
        #expect(error?.path == member.path, "member \(index): \(String(describing: error))")
      }
    }
  }

  @Test func aLargeStreamThatFailsEndsTheRun() throws {
    for given in [0, 1000, 2_500_000] {
      let content = [UInt8](repeating: 5, count: given)
      let writer = try ArchiveWriter(to: MemorySink())
      try writer.append(file("before"), content: [1])
      let early = #expect(throws: ArchiveError.self) {
        try writer.append(file("large", byteCount: 3_000_000), read: Engine.stream(content, step: 1 << 20))
      }
      #expect(early?.code == .invalidArgument)
      let later = #expect(throws: ArchiveError.self) {
        try writer.append(file("after"), content: [1])
        _ = try writer.finish()
      }
      #expect(later?.code == .invalidArgument, "the first error is the one that is told")
    }
    let writer = try ArchiveWriter(to: MemorySink())
    let error = #expect(throws: ArchiveError.self) {
      try writer.append(file("large", byteCount: 3_000_000)) { _ throws(ArchiveError) in
        throw ArchiveError(.system, "the caller's own", systemErrorNumber: 5)
      }
    }
    #expect(error?.message == "the caller's own")
  }

  /// The size is the caller's word: nothing is set aside for it.
  @Test(.timeLimit(.minutes(10))) func anAbsurdSizeCostsNothing() throws {
    for (size, code) in [(1 << 59, .invalidArgument), (UInt64.max, .limitExceeded)] as [(UInt64, ArchiveError.Code)] {
      let writer = try ArchiveWriter(to: MemorySink())
      let error = #expect(throws: ArchiveError.self) { try writer.append(file("f", byteCount: size), read: { _ in }) }
      #expect(error?.code == code, "\(String(describing: error))")
    }
  }

  @Test func piecesOfLargeFilesFitTogether() {
    for chunk in [64 << 10, 256 << 10, 4 << 20] as [UInt64] {
      for size in [
        1, chunk / 4, chunk / 2, chunk, chunk + 1, chunk * 5 / 4 - 1, chunk * 5 / 4, 7 * chunk, 7 * chunk + chunk / 4,
      ]
        as [UInt64]
      {
        let pieces = FilePieces(storedByteCount: size, chunkByteCount: chunk)
        var position: UInt64 = 0
        for index in 0..<pieces.count {
          let piece = pieces[index]
          #expect(piece.lowerBound == position && !piece.isEmpty)
          #expect(UInt64(piece.count) < chunk * 5 / 4)
          #expect(index == pieces.count - 1 || UInt64(piece.count) == chunk)
          position = piece.upperBound
        }
        #expect(position == size, "\(size) in chunks of \(chunk)")
        #expect(pieces.count == 1 || UInt64(pieces[pieces.count - 1].count) >= chunk / 4)
      }
    }
    #expect(FilePieces(storedByteCount: 0, chunkByteCount: 4096).count == 0)
    #expect(FilePieces(storedByteCount: 1 << 60, chunkByteCount: 1 << 16).count == 1 << 44)
  }

  @Test func optionsOutOfRangeAreRefused() {
    for change in [
      { $0.level = 20 }, { $0.level = -1 }, { $0.chunkByteCount = 1000 }, { $0.chunkByteCount = 64 << 20 },
      { $0.threadCount = 257 }, { $0.threadCount = -1 }, { $0.manifest = [("", "x")] },
      { $0.manifest = [("a", "x"), ("a", "y")] },
      { $0.manifest = [("a", String(repeating: "x", count: 70_000))] },
    ] as [(inout WriterOptions) -> Void] {
      var options = WriterOptions()
      change(&options)
      #expect(throws: ArchiveError.self) { _ = try ArchiveWriter(to: MemorySink(), options: options) }
    }
  }

  @Test func manifestsComeBackInTheirOrder() throws {
    let directory = try #require(TemporaryDirectory.current)
    var options = WriterOptions()
    options.manifest = [("z", "1"), ("a", "ünï\n\0"), ("empty", "")]
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: options)
    try writer.append(file("f"), content: [1])
    _ = try writer.finish(closingManifest: [("count", "1"), ("b", String(repeating: "x", count: 60_000))])
    let expected = options.manifest + [("count", "1"), ("b", String(repeating: "x", count: 60_000))]
    let fromFile = try Engine.reader(sink.content, in: directory).info().manifest
    let fromPipe = try Engine.withPipe(sink.content) { try ArchiveReader(descriptor: $0).info() }.manifest
    for manifest in [fromFile, fromPipe] {
      #expect(manifest.map(\.key) == expected.map(\.key) && manifest.map(\.value) == expected.map(\.value))
    }
    let bad = try ArchiveWriter(to: MemorySink(), options: options)
    #expect(throws: ArchiveError.self) { _ = try bad.finish(closingManifest: [("", "")]) }
  }

  @Test func anEmptyArchiveIsOne() throws {
    let directory = try #require(TemporaryDirectory.current)
    let sink = MemorySink()
    let summary = try ArchiveWriter(to: sink).finish()
    #expect(summary.entryCount == 0 && summary.tarByteCount == 1024)
    #expect(try Engine.reader(sink.content, in: directory).verify().isHealthy)
    #expect(try Engine.withPipe(sink.content) { try ArchiveReader(descriptor: $0).verify() }.isHealthy)
    #expect(try list(sink.content, directory).isEmpty)
    let out = directory.file("out")
    _ = try Engine.reader(sink.content, in: directory).extract(to: bytes(out))
    #expect(try FileManager.default.contentsOfDirectory(atPath: out).isEmpty)
  }

  /// A digest changes with anything that the archive holds and with nothing else.
  @Test func digestsTellArchivesApart() throws {
    func digest(_ change: (inout Member, inout [UInt8], inout WriterOptions) -> Void = { _, _, _ in }) throws -> String
    {
      var (member, content, options) = (file("f"), [UInt8](repeating: 1, count: 100), WriterOptions())
      change(&member, &content, &options)
      let writer = try ArchiveWriter(to: MemorySink(), options: options)
      try writer.append(member, content: content)
      return try writer.finish().digest
    }
    let plain = try digest()
    #expect(try digest() == plain)
    #expect(try digest { $2.threadCount = 7 } == plain)
    #expect(try digest { $2.verifiesWrites = true } == plain)
    var seen: Set<String> = [plain]
    seen.insert(try digest { member, _, _ in member.mode = 0o600 })
    seen.insert(try digest { member, _, _ in member.modificationTime.nanoseconds = 1 })
    seen.insert(try digest { member, _, _ in member.path = [0x67] })
    seen.insert(try digest { _, content, _ in content[99] = 2 })
    seen.insert(try digest { _, _, options in options.level = 4 })
    seen.insert(try digest { _, _, options in options.manifest = [("a", "b")] })
    #expect(seen.count == 7)
  }

  /// The output inside the tree that is archived is passed over.
  @Test func theArchiveItselfIsLeftOut() throws {
    let directory = try #require(TemporaryDirectory.current)
    try Engine.makeTree(directory.file("t"), seed: 3, fileCount: 20)
    let notes = Locked<[ArchiveWarning]>([])
    let output = try FileSystem.open(
      at: FileSystem.currentDirectory, bytes(directory.file("t/own.tar.zst")), [.readWrite, .create], mode: 0o600)
    let writer = try ArchiveWriter(to: output.rawValue) { event in
      if case .warning(let warning) = event { notes.withLock { $0.append(warning) } }
    }
    try writer.appendTree(at: bytes(directory.file("t")), as: bytes("t"))
    #expect(try writer.finish().warningCount == 0)
    #expect(notes.withLock { $0.map(\.description) } == ["t/own.tar.zst: is the archive itself; left out"])
    #expect(notes.withLock { $0[0].isDegradation } == false)
    let reader = try ArchiveReader(path: bytes(directory.file("t/own.tar.zst")))
    #expect(try reader.verify().isHealthy)
    #expect(throws: ArchiveError.self) { try reader.read(bytes("t/own.tar.zst"), to: MemorySink()) }
  }
}
