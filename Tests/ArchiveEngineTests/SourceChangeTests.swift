import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

/// Files that change between the walk and the reading, or while they are read: the archive is valid whatever happens.
@Suite(.inTemporaryDirectory(.memory)) struct SourceChangeTests {
  /// What a run over a tree that changes has left.
  struct Outcome {
    var archive: [UInt8]
    var warnings: [String]
    var summary: WriteSummary
  }

  /// Members of this tree stay in the planner until the end, so that nothing is opened before `change` has been made.
  private func archive(
    _ tree: String, chunk: Int = 4 << 20, isSerial: Bool = false, change: () throws -> Void
  ) throws -> Outcome {
    let warnings = Locked<[String]>([])
    var options = WriterOptions()
    options.chunkByteCount = chunk
    options.isSerial = isSerial
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: options) { event in
      if case .warning(let warning) = event { warnings.withLock { $0.append(warning.description) } }
    }
    try writer.appendTree(at: Array(tree.utf8), as: Array("t".utf8))
    try change()
    let summary = try writer.finish()
    return Outcome(archive: sink.content, warnings: warnings.withLock { $0 }, summary: summary)
  }

  private func makeTree() throws -> (directory: TemporaryDirectory, tree: String) {
    let directory = try #require(TemporaryDirectory.current)
    let tree = directory.file("t")
    try FileManager.default.createDirectory(atPath: tree, withIntermediateDirectories: true)
    for name in ["a", "m", "z"] { try FileTree.write([UInt8](repeating: 0x61, count: 5000), to: "\(tree)/\(name)") }
    return (directory, tree)
  }

  private struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    /// Run with the path of the file "m".
    var script: String
    var warning: String
    /// Whether the member is there, and if so whether it is incomplete.
    var isStored: Bool
    var isIncomplete = false
    var isClean = false
    var testDescription: String { name }
  }

  private static let rows = [
    Row(name: "vanishes", script: "rm $F", warning: "vanished", isStored: false),
    Row(name: "becomes a FIFO", script: "rm $F; mkfifo $F", warning: "vanished", isStored: false),
    Row(name: "becomes a directory", script: "rm $F; mkdir $F", warning: "vanished", isStored: false),
    Row(name: "becomes a symlink", script: "rm $F; ln -s /etc/passwd $F", warning: "left out", isStored: false),
    Row(name: "becomes a device", script: "rm $F; mknod $F c 1 3", warning: "vanished", isStored: false),
    Row(name: "shrinks", script: "truncate -s 100 $F", warning: "", isStored: true, isClean: true),
    Row(name: "becomes empty", script: "truncate -s 0 $F", warning: "", isStored: true, isClean: true),
    Row(name: "grows", script: "printf more >> $F", warning: "grew", isStored: true),
    Row(name: "changes its mode", script: "chmod 4711 $F", warning: "", isStored: true, isClean: true),
    Row(name: "is another file", script: "rm $F; printf other > $F", warning: "", isStored: true, isClean: true),
    Row(
      name: "becomes sparse", script: "truncate -s 0 $F; truncate -s 5000 $F", warning: "", isStored: true,
      isClean: true),
  ]

  @Test(arguments: rows) private func aFileThatChangesBeforeItIsRead(row: Row) throws {
    guard !row.script.contains("mknod") || ProcessFacts.effectiveUserID == 0 else { return }
    for isSerial in [false, true] {
      let (directory, tree) = try makeTree()
      let outcome = try archive(tree, isSerial: isSerial) {
        try Shell.script("F='\(tree)/m'; \(row.script)")
      }
      if row.isClean {
        #expect(outcome.warnings.isEmpty && outcome.summary.warningCount == 0, "\(outcome.warnings)")
      } else {
        #expect(outcome.warnings.count == 1 && outcome.summary.warningCount == 1, "\(outcome.warnings)")
        #expect(
          outcome.warnings.first?.contains("t/m: ") == true && outcome.warnings.first?.contains(row.warning) == true)
      }
      try expectHealthy(outcome.archive, directory)
      let members = try list(outcome.archive, directory)
      #expect((members["t/m"] != nil) == row.isStored)
      #expect(members["t/a"]?.byteCount == 5000 && members["t/z"]?.byteCount == 5000)
      try FileManager.default.removeItem(atPath: tree)
    }
  }

  @Test func aVanishedTargetOfHardLinksIsKeptAsIncomplete() throws {
    let (directory, tree) = try makeTree()
    try Shell.script("ln '\(tree)/a' '\(tree)/n'")
    let outcome = try archive(tree) { try Shell.script("rm '\(tree)/a'") }
    #expect(outcome.warnings.count == 1 && outcome.warnings[0].contains("t/a: "), "\(outcome.warnings)")
    try expectHealthy(outcome.archive, directory)
    try expectIncomplete(["t/a"], alsoMissing: ["t/n"], in: outcome.archive, directory)
  }

  /// From a pipe it shows only after a file was made that it is incomplete; what was there before the run is not taken back.
  @Test func aFileThatIsKeptIsNotRemovedWhenTheArchiveHasItIncomplete() throws {
    let (directory, tree) = try makeTree()
    try Shell.script("ln '\(tree)/m' '\(tree)/n'")
    let outcome = try archive(tree) { try Shell.script("rm '\(tree)/m'") }
    for isPiped in [false, true] {
      let out = directory.file("out-\(isPiped)")
      try Shell.script("mkdir -p '\(out)/t'; echo mine > '\(out)/t/m'")
      var options = ExtractOptions()
      options.syncs = false
      options.overwrite = .keep
      if isPiped {
        _ = try Engine.withPipe(outcome.archive) {
          try ArchiveReader(descriptor: $0).extract(to: Array(out.utf8), options: options)
        }
      } else {
        _ = try Engine.reader(outcome.archive, in: directory).extract(to: Array(out.utf8), options: options)
      }
      #expect(try FileTree.read("\(out)/t/m") == Array("mine\n".utf8), "piped: \(isPiped)")
      #expect(try FileTree.read("\(out)/t/z").count == 5000)
    }
  }

  /// Writing pauses at the first byte, when at most a slot for each lane and two more were read.
  private func archiveLarge(
    _ path: String, atFirstWrite change: @escaping @Sendable () -> Void
  ) throws -> Outcome {
    let warnings = Locked<[String]>([])
    var options = WriterOptions()
    options.chunkByteCount = 64 << 10
    options.threadCount = 2
    let sink = MemorySink { if $0 == 1 { change() } }
    let writer = try ArchiveWriter(to: sink, options: options) { event in
      if case .warning(let warning) = event { warnings.withLock { $0.append(warning.description) } }
    }
    try writer.appendTree(at: Array(path.utf8), as: Array("t".utf8))
    let summary = try writer.finish()
    return Outcome(archive: sink.content, warnings: warnings.withLock { $0 }, summary: summary)
  }

  @Test func aLargeFileThatShrinksWhileItIsReadIsPaddedAndFlagged() throws {
    let (directory, tree) = try makeTree()
    var random = SplitMix64(seed: 1)
    let content = random.bytes(3 << 20)
    try FileTree.write(content, to: "\(tree)/m")
    let outcome = try archiveLarge(tree) { _ = unsafe truncate("\(tree)/m", 512 << 10) }
    #expect(outcome.warnings.contains { $0.contains("t/m: ") && $0.contains("incomplete") }, "\(outcome.warnings)")
    try expectHealthy(outcome.archive, directory)
    #expect(try list(outcome.archive, directory)["t/m"]?.byteCount == 3 << 20)
    try expectIncomplete(["t/m"], in: outcome.archive, directory)
    let sink = MemorySink()
    let warned = Locked(0)
    let path = directory.file("x.tar.zst")
    try FileTree.write(outcome.archive, to: path)
    try ArchiveReader(path: Array(path.utf8)) { if case .warning = $0 { warned.withLock { $0 += 1 } } }
      .read(Array("t/m".utf8), to: sink)
    #expect(warned.withLock { $0 } == 1)
    #expect(sink.content.count == 3 << 20)
    #expect(sink.content.prefix(512 << 10) == content.prefix(512 << 10))
    #expect(sink.content.suffix(1 << 20).allSatisfy { $0 == 0 })
  }

  @Test func aLargeFileThatGrowsWhileItIsReadIsStoredUpToItsFirstSize() throws {
    let (directory, tree) = try makeTree()
    var random = SplitMix64(seed: 2)
    let content = random.bytes(3 << 20)
    try FileTree.write(content, to: "\(tree)/m")
    let outcome = try archiveLarge(tree) {
      let file = FileHandle(forWritingAtPath: "\(tree)/m")
      file?.seekToEndOfFile()
      file?.write(Data(repeating: 1, count: 100_000))
    }
    #expect(outcome.warnings.contains { $0.contains("t/m: ") && $0.contains("changed") }, "\(outcome.warnings)")
    try expectHealthy(outcome.archive, directory)
    let sink = MemorySink()
    try Engine.reader(outcome.archive, in: directory).read(Array("t/m".utf8), to: sink)
    #expect(sink.content == content)
  }

  @Test func aLargeFileThatIsReplacedWhileItIsReadIsTheOldOne() throws {
    let (directory, tree) = try makeTree()
    var random = SplitMix64(seed: 3)
    let content = random.bytes(3 << 20)
    try FileTree.write(content, to: "\(tree)/m")
    try FileTree.write([1, 2, 3], to: directory.file("new"))
    let outcome = try archiveLarge(tree) { _ = unsafe rename(directory.file("new"), "\(tree)/m") }
    try expectHealthy(outcome.archive, directory)
    let sink = MemorySink()
    try Engine.reader(outcome.archive, in: directory).read(Array("t/m".utf8), to: sink)
    #expect(sink.content == content)
  }

  @Test func aTreeThatIsRemovedWhileItIsWalkedGivesAValidArchive() throws {
    let directory = try #require(TemporaryDirectory.current)
    for write in [1, 5, 20] {
      let tree = directory.file("t")
      try Engine.makeTree(tree, seed: UInt64(write), fileCount: 600, largeByteCount: 200_000)
      var options = WriterOptions()
      options.chunkByteCount = 64 << 10
      let sink = MemorySink { number in
        if number == write { try? FileManager.default.removeItem(atPath: tree) }
      }
      let writer = try ArchiveWriter(to: sink, options: options)
      try writer.appendTree(at: Array(tree.utf8), as: Array("t".utf8))
      let summary = try writer.finish()
      #expect(summary.warningCount > 0)
      try expectHealthy(sink.content, directory)
      try? FileManager.default.removeItem(atPath: tree)
    }
  }

  /// Root may read everything, so this runs as somebody else, in a process of its own.
  @Test(.enabled(if: ProcessFacts.effectiveUserID == 0)) func unreadableFilesAreLeftOutAndNamed() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      try Shell.script(
        "mkdir d d/closed; echo 1 > d/open; echo 2 > d/secret; echo 3 > d/closed/inside; head -c 3000000 /dev/zero > d/secret-large;"
          + "chmod 600 d/secret d/secret-large; chmod 700 d/closed; chmod 755 .", directory: directory.path)
      let path = directory.file("d")
      try #require(Limits.becomePlainUser())
      let warnings = Locked<[String]>([])
      let sink = MemorySink()
      let writer = try ArchiveWriter(to: sink) { event in
        if case .warning(let warning) = event { warnings.withLock { $0.append(warning.description) } }
      }
      try writer.appendTree(at: Array(path.utf8), as: Array("d".utf8))
      let summary = try writer.finish()
      let seen = warnings.withLock { $0 }
      #expect(summary.warningCount == 3, "\(seen)")
      for name in ["d/secret: ", "d/secret-large: ", "d/closed"] {
        #expect(seen.contains { $0.contains(name) && $0.contains("left out") }, "\(name) in \(seen)")
      }
      #expect(summary.fileCount == 1)
    }
  }

  /// A read that fails in the middle, as a bad disk's does.
  @Test(arguments: [1, 2, 5, 9]) func readErrorsMakeMembersIncomplete(nth: Int) async {
    await #expect(processExitsWith: .success) { [nth] in
      let directory = try TemporaryDirectory(.memory)
      let tree = directory.file("t")
      try Engine.makeTree(tree, seed: 8, fileCount: 40, largeByteCount: 400_000)
      FaultInjection.arm("pread", nth: nth, kind: .error(EIO))
      let warnings = Locked<[String]>([])
      var options = WriterOptions()
      options.chunkByteCount = 64 << 10
      let sink = MemorySink()
      let writer = try ArchiveWriter(to: sink, options: options) { event in
        if case .warning(let warning) = event { warnings.withLock { $0.append(warning.description) } }
      }
      try writer.appendTree(at: Array(tree.utf8), as: Array("t".utf8))
      _ = try writer.finish()
      #expect(FaultInjection.wasDelivered)
      FaultInjection.disarm()
      let seen = warnings.withLock { $0 }
      #expect(seen.count == 1 && seen[0].contains("incomplete"), "\(seen)")
      let report = try Engine.reader(sink.content, in: directory).verify()
      #expect(report.isHealthy, "\(report.damages)")
      var incomplete = 0
      try Engine.reader(sink.content, in: directory).list { listed throws(ArchiveError) in
        incomplete += listed.isIncomplete ? 1 : 0
      }
      #expect(incomplete == 1)
    }
  }

  // MARK: What holds for all

  private func expectHealthy(_ archive: [UInt8], _ directory: TemporaryDirectory) throws {
    let report = try Engine.reader(archive, in: directory).verify()
    #expect(report.isHealthy, "\(report.damages)")
    #expect(try Engine.reader(archive, in: directory).verify(quick: true).isHealthy)
    let piped = try Engine.withPipe(archive) { descriptor in
      try ArchiveReader(descriptor: descriptor).verify()
    }
    #expect(piped.isHealthy, "\(piped.damages)")
  }

  private func list(_ archive: [UInt8], _ directory: TemporaryDirectory) throws -> [String: Member] {
    var members: [String: Member] = [:]
    try Engine.reader(archive, in: directory).list { listed throws(ArchiveError) in
      members[PathText.printable(listed.member.path)] = listed.member
    }
    return members
  }

  private func expectIncomplete(
    _ paths: Set<String>, alsoMissing: Set<String> = [], in archive: [UInt8], _ directory: TemporaryDirectory
  ) throws {
    var flagged: Set<String> = []
    try Engine.reader(archive, in: directory).list { listed throws(ArchiveError) in
      if listed.isIncomplete { flagged.insert(PathText.printable(listed.member.path)) }
    }
    #expect(flagged == paths)
    for isPiped in [false, true] {
      let out = directory.file("out-\(isPiped)")
      var options = ExtractOptions()
      options.syncs = false
      let summary =
        isPiped
        ? try Engine.withPipe(archive) { [options] in
          try ArchiveReader(descriptor: $0).extract(to: Array(out.utf8), options: options)
        }
        : try Engine.reader(archive, in: directory).extract(to: Array(out.utf8), options: options)
      #expect(summary.skippedCount == UInt64(paths.count + alsoMissing.count), "piped: \(isPiped)")
      #expect(summary.warningCount >= UInt64(paths.count), "piped: \(isPiped)")
      for path in paths.union(alsoMissing) {
        #expect(!FileManager.default.fileExists(atPath: "\(out)/\(path)"), "\(path), piped: \(isPiped)")
      }
      #expect(FileManager.default.fileExists(atPath: "\(out)/t/z"))
    }
  }
}
