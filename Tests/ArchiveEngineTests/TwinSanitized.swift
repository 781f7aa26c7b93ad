import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

/// Random sequences of all that can be appended give the same bytes from the pipeline with any number of threads as from its serial
/// twin. Also run under the sanitizers.
@Suite(.inTemporaryDirectory(.memory)) struct TwinSanitized {
  /// One call of the writer.
  private enum Step: Sendable {
    case bytes(Member, [UInt8])
    case stream(Member, [UInt8])
    case tree(path: String, name: String)
  }

  private static func steps(seed: UInt64, chunk: Int, directory: TemporaryDirectory) throws -> [Step] {
    var random = SplitMix64(seed: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    var steps: [Step] = []
    var files: [[UInt8]] = []
    for number in 0..<50 {
      let prefix = below(8) == 0 ? String(repeating: "deep/", count: 1 + below(60)) : "d\(below(4))/"
      var member = Member(path: Array("\(prefix)m\(number)".utf8), kind: .file)
      member.modificationTime = Timestamp(seconds: Int64(below(1 << 32)), nanoseconds: UInt32(below(1_000_000_000)))
      if below(10) == 0 { member.userID = 3_000_000 }
      if below(6) == 0 {
        // Up to more than a slot holds at the smallest chunk size.
        let count = [10, 5000, 60_000, 900 << 10][below(4)]
        member.extendedAttributes = [ExtendedAttribute(name: Array("user.x".utf8), value: random.bytes(count))]
      }
      switch below(12) {
      case 0:
        member.kind = .symlink
        member.linkTarget = random.bytes(1 + below(300)).map { $0 | 1 }
        steps.append(.bytes(member, []))
      case 1 where !files.isEmpty:
        member.kind = .hardlink
        member.linkTarget = files[below(files.count)]
        steps.append(.bytes(member, []))
      case 2:
        member.kind = below(2) == 0 ? .directory : .fifo
        steps.append(.bytes(member, []))
      default:
        let limits = [1, 512, 4096, chunk / 8, chunk / 2 + 1, chunk * 2, chunk / 2 * 7]
        let size = min(below(limits[below(limits.count)]), 3 << 20)
        let content =
          below(3) == 0 ? random.bytes(size) : Engine.repeated(random.bytes(1 + below(200)), byteCount: size)
        files.append(member.path)
        if below(4) == 0 {
          member.byteCount = UInt64(size)
          steps.append(.stream(member, content))
        } else {
          steps.append(.bytes(member, content))
        }
      }
    }
    for name in ["awkward", "seeded"] {
      let path = directory.file("\(name)-\(seed)")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      if name == "awkward" {
        let root = try FileSystem.open(
          at: FileSystem.currentDirectory, Array(path.utf8), [.readOnly, .directory])
        try FileTree.makeAwkward(in: root.rawValue, seed: seed)
      } else {
        try Engine.makeTree(path, seed: seed, fileCount: 60, largeByteCount: chunk * 3 / 2 + 100)
      }
      steps.insert(.tree(path: path, name: name), at: below(steps.count))
    }
    return steps
  }

  private static func archive(_ steps: [Step], _ options: WriterOptions) throws -> [UInt8] {
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: options)
    for step in steps {
      switch step {
      case .bytes(let member, let content): try writer.append(member, content: content)
      case .stream(let member, let content):
        try writer.append(member, read: Engine.stream(content, step: 100_000))
      case .tree(let path, let name): try writer.appendTree(at: Array(path.utf8), as: Array(name.utf8))
      }
    }
    _ = try writer.finish()
    return sink.content
  }

  /// Level 19 is slow: it gets the smallest chunks only.
  @Test(
    arguments: [
      (1, 3, 64 << 10), (2, 0, 64 << 10), (3, 1, 256 << 10), (4, 3, 256 << 10), (5, 19, 64 << 10), (6, 3, 4 << 20),
    ] as [(UInt64, Int, Int)])
  func randomAppendsGiveTheTwinsBytes(seed: UInt64, level: Int, chunk: Int) throws {
    let directory = try #require(TemporaryDirectory.current)
    let steps = try Self.steps(seed: seed, chunk: chunk, directory: directory)
    var options = WriterOptions()
    options.level = level
    options.chunkByteCount = chunk
    options.isSerial = true
    let serial = try Self.archive(steps, options)
    options.isSerial = false
    // All numbers of threads where a run is quick.
    for threads in chunk == 64 << 10 && level < 19 ? Array(1...8) : [1, 2, 5, 8] {
      options.threadCount = threads
      let isSame = try Self.archive(steps, options) == serial
      #expect(isSame, "seed \(seed), level \(level), chunk \(chunk), \(threads) threads")
    }
    let path = directory.file("archive")
    try FileTree.write(serial, to: path)
    for threads in [1, 3, 8] {
      let report = try ArchiveReader(path: Array(path.utf8), threadCount: threads).verify()
      #expect(report.isHealthy, "seed \(seed): \(report.damages)")
    }
    let piped = try Engine.withPipe(serial) { try ArchiveReader(descriptor: $0, threadCount: 3).verify() }
    #expect(piped.isHealthy, "seed \(seed): \(piped.damages)")
    // What was given comes out.
    let reader = try ArchiveReader(path: Array(path.utf8))
    for case .bytes(let member, let content) in steps where member.kind == .file {
      let sink = MemorySink()
      try reader.read(member.path, to: sink)
      let isSame = sink.content == content
      #expect(isSame, "seed \(seed): \(PathText.printable(member.path))")
    }
  }

  /// Writers and readers of all kinds at the same time in one process, which stays as it was.
  @Test func eightThreadsWriteAndReadAtOnce() throws {
    let directory = try #require(TemporaryDirectory.current)
    let tree = directory.file("t")
    try Engine.makeTree(tree, seed: 13, fileCount: 150, largeByteCount: 200_000)
    let expected = try Engine.archive(tree, isSerial: true, chunk: 64 << 10)
    let path = directory.file("a")
    try FileTree.write(expected, to: path)
    let mask = ProcessFacts.fileModeMask
    let place = FileManager.default.currentDirectoryPath
    var signals = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &signals)
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      func check(_ isRight: Bool, _ what: String) {
        if !isRight { failures.withLock { $0.append("\(what) in thread \(number)") } }
      }
      do {
        for round in 0..<3 {
          let out = directory.file("out-\(number)-\(round)")
          var options = ExtractOptions()
          options.syncs = false
          switch (number + round) % 4 {
          case 0: check(try Engine.archive(tree, threads: 1 + number % 3, chunk: 64 << 10) == expected, "create")
          case 1:
            let summary = try ArchiveReader(path: Array(path.utf8), threadCount: 2)
              .extract(to: Array(out.utf8), options: options)
            check(summary.warningCount == 0 && summary.fileCount > 150, "extract")
          case 2:
            let summary = try Engine.withPipe(expected) { [options] in
              try ArchiveReader(descriptor: $0, threadCount: 2).extract(to: Array(out.utf8), options: options)
            }
            check(summary.warningCount == 0 && summary.fileCount > 150, "extract from a pipe")
          default:
            check(try ArchiveReader(path: Array(path.utf8), threadCount: 2).verify().isHealthy, "verify")
            let reader = try ArchiveReader(path: Array(path.utf8))
            var count = 0
            try reader.list { _ in count += 1 }
            check(count > 150, "list")
          }
        }
      } catch { check(false, "\(error)") }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(ProcessFacts.fileModeMask == mask)
    #expect(FileManager.default.currentDirectoryPath == place)
    var after = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &after)
    for signal in 1..<32 as Range<Int32> {
      #expect(unsafe sigismember(&signals, signal) == sigismember(&after, signal))
    }
  }
}
