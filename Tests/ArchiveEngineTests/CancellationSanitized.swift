import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

/// Cancelled runs end soon, whatever they wait for, leave nothing behind, and all their threads are gone. Also run under the
/// sanitizers. One after the other: the times are measured.
@Suite(.inTemporaryDirectory(.memory), .serialized, .timeLimit(.minutes(10))) struct CancellationSanitized {
  /// What is promised is 200 ms, for a release build on a machine that has nothing else to do.
  static let limit = Duration.seconds(1)

  /// Runs `body`, cancels it after `delay`, and expects it to throw `cancelled` within the limit: at least one of three times,
  /// because other tests and other programs want the processors too.
  private static func expectEnd(
    _ name: String, delay: Duration = .milliseconds(100), _ body: (CancellationToken) throws -> Void
  ) {
    var times: [Duration] = []
    repeat {
      guard let time = end(name, delay, body) else { return }
      times.append(time)
    } while times[times.count - 1] > limit && times.count < 3
    print("measured: \(name) ended \(times) after it was cancelled")
    #expect(times.contains { $0 <= limit }, "\(name)")
  }

  /// How long a run went on after it was cancelled; nil when something else was wrong, which is recorded.
  private static func end(
    _ name: String, _ delay: Duration, _ body: (CancellationToken) throws -> Void
  ) -> Duration? {
    let token = CancellationToken()
    let moment = Locked<ContinuousClock.Instant?>(nil)
    Thread {
      usleep(UInt32(delay / .microseconds(1)))
      moment.withLock { $0 = .now }
      token.cancel()
    }.start()
    do {
      try body(token)
      Issue.record("\(name): the run came to its end")
      return nil
    } catch let error as ArchiveError {
      if error.code != .cancelled { Issue.record("\(name): \(error)") }
    } catch { Issue.record("\(name): \(error)") }
    let now = ContinuousClock.now
    guard let start = moment.withLock({ $0 }) else {
      Issue.record("\(name): ended before it was cancelled")
      return nil
    }
    return now - start
  }

  private static func options(level: Int = 3, chunk: Int = 256 << 10) -> WriterOptions {
    var options = WriterOptions()
    options.level = level
    options.chunkByteCount = chunk
    options.threadCount = 2
    return options
  }

  /// Text of which the highest level takes long to be convinced.
  private static func text(_ byteCount: Int) -> [UInt8] {
    var random = SplitMix64(seed: 9)
    let words = (0..<3000).map { _ in Array("word\(random.next() % 100_000) ".utf8) }
    var text: [UInt8] = []
    text.reserveCapacity(byteCount + 16)
    while text.count < byteCount { text += words[Int(random.next() % 3000)] }
    return text
  }

  @Test func compressionAtTheHighestLevel() throws {
    let directory = try #require(TemporaryDirectory.current)
    try FileTree.write(Self.text(24 << 20), to: directory.file("big"))
    Self.expectEnd("create at level 19", delay: .milliseconds(300)) { token in
      let writer = try ArchiveWriter(
        to: MemorySink(), options: Self.options(level: 19, chunk: 4 << 20), cancellation: token)
      try writer.appendTree(at: Array(directory.file("big").utf8), as: Array("big".utf8))
      _ = try writer.finish()
    }
  }

  @Test func manySmallFiles() throws {
    let directory = try #require(TemporaryDirectory.current)
    try Engine.makeTree(directory.file("t"), seed: 1, fileCount: 1500)
    let sink = MemorySink { _ in usleep(5000) }
    Self.expectEnd("create of small files") { token in
      let writer = try ArchiveWriter(to: sink, options: Self.options(chunk: 64 << 10), cancellation: token)
      for index in 0..<1000 {
        try writer.appendTree(at: Array(directory.file("t").utf8), as: Array("t\(index)".utf8))
      }
      _ = try writer.finish()
    }
  }

  @Test func aPipeWhoseReaderStopped() throws {
    let (reading, writing) = try Engine.makePipe()
    let end = SharedDescriptor(Descriptor(adopting: writing))
    var random = SplitMix64(seed: 2)
    let content = random.bytes(1 << 20)
    Self.expectEnd("create into a stopped pipe") { token in
      let writer = try ArchiveWriter(to: end.rawValue, options: Self.options(), cancellation: token)
      for index in 0..<64 {
        try writer.append(Member(path: Array("m\(index)".utf8), kind: .file), content: content)
      }
      _ = try writer.finish()
    }
    withExtendedLifetime(reading) {}
  }

  @Test func aStreamThatTheCallerProvides() throws {
    var member = Member(path: Array("stream".utf8), kind: .file)
    member.byteCount = 1 << 40
    let chunk = [UInt8](repeating: 7, count: 64 << 10)
    let null = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array("/dev/null".utf8), .writeOnly))
    Self.expectEnd("create from an endless stream") { token in
      let writer = try ArchiveWriter(to: null.rawValue, options: Self.options(), cancellation: token)
      try writer.append(member) { span throws(ArchiveError) in try Engine.stream(chunk, step: 4096)(&span) }
      _ = try writer.finish()
    }
  }

  @Test func anArchiveFromAPipeWhoseWriterStopped() throws {
    let directory = try #require(TemporaryDirectory.current)
    try Engine.makeTree(directory.file("t"), seed: 3, fileCount: 60)
    let archive = try Engine.archive(directory.file("t"), chunk: 64 << 10)
    try FileManager.default.removeItem(atPath: directory.file("t"))
    for verb in ["extract", "list", "verify", "compare", "cat"] {
      let (reading, writing) = try Engine.makePipe()
      let end = SharedDescriptor(Descriptor(adopting: writing))
      try DescriptorWriter(end).write(Array(archive.prefix(min(archive.count / 2, 50_000))))
      Self.expectEnd("\(verb) from a stopped pipe") { token in
        let reader = try ArchiveReader(descriptor: reading.rawValue, threadCount: 2, cancellation: token)
        switch verb {
        case "extract": _ = try reader.extract(to: Array(directory.file("out").utf8))
        case "list": try reader.list { _ in }
        case "verify": _ = try reader.verify()
        case "compare": _ = try reader.compare(with: Array(directory.path.utf8)) { _ in }
        default: try reader.read(Array("tree/none".utf8), to: MemorySink())
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty, "\(verb)")
      withExtendedLifetime(end) {}
    }
  }

  @Test func aMemberIntoAPipeWhoseReaderStopped() throws {
    let directory = try #require(TemporaryDirectory.current)
    var random = SplitMix64(seed: 4)
    try FileTree.write(random.bytes(4 << 20), to: directory.file("f"))
    let archive = try Engine.archive(directory.file("f"))
    let path = directory.file("a")
    try FileTree.write(archive, to: path)
    let (reading, writing) = try Engine.makePipe()
    let end = SharedDescriptor(Descriptor(adopting: writing))
    Self.expectEnd("cat into a stopped pipe") { token in
      try ArchiveReader(path: Array(path.utf8), cancellation: token).read(Array("tree".utf8), to: end.rawValue)
    }
    withExtendedLifetime(reading) {}
  }

  /// Cancelled from within, by the run's own event, at its first progress.
  @Test(arguments: ["extract", "extract-here", "verify", "quick", "compare"], [1, 4])
  func indexedReading(verb: String, threads: Int) throws {
    let directory = try #require(TemporaryDirectory.current)
    try Engine.makeTree(directory.file("tree"), seed: 5, fileCount: 700, largeByteCount: 1_300_000)
    let path = directory.file("a")
    try FileTree.write(try Engine.archive(directory.file("tree"), chunk: 64 << 10), to: path)
    if verb == "extract-here" {
      try FileManager.default.createDirectory(atPath: directory.file("out"), withIntermediateDirectories: false)
    }
    let token = CancellationToken()
    let reader = try ArchiveReader(path: Array(path.utf8), threadCount: threads, cancellation: token) { event in
      if case .progress = event { token.cancel() }
    }
    let error = #expect(throws: ArchiveError.self) {
      switch verb {
      case "extract", "extract-here": _ = try reader.extract(to: Array(directory.file("out").utf8))
      case "verify", "quick": _ = try reader.verify(quick: verb == "quick")
      default: _ = try reader.compare(with: Array(directory.path.utf8)) { _ in }
      }
    }
    #expect(error?.code == .cancelled)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    #expect(names == (verb == "extract-here" ? ["a", "out", "tree"] : ["a", "tree"]))
    if verb == "extract-here" {
      // What is there is whole, and nothing has a temporary name.
      let found = try Shell.script("cd '\(directory.file("out"))' && find . -name '*.tmp' -o -name '.starc*'")
      #expect(found.isEmpty, "\(found)")
      let same = try Shell.run(
        ["sh", "-c", "cd tree && find . -type f -exec cmp {} ../../tree/{} \\;"], directory: directory.file("out"))
      #expect(same.output.isEmpty && same.errors.isEmpty, "\(same.outputText)\(same.errorText)")
    }
  }

  /// What a lane, the drain and the pool hold is released when they have ended: the sink goes with the last of them.
  @Test func threadsOfACancelledWriterAreGone() throws {
    let directory = try #require(TemporaryDirectory.current)
    try Engine.makeTree(directory.file("t"), seed: 6, fileCount: 300, largeByteCount: 1 << 20)
    for write in [1, 3, 9] {
      weak var gone: MemorySink?
      try {
        let token = CancellationToken()
        let sink = MemorySink { if $0 == write { token.cancel() } }
        gone = sink
        let writer = try ArchiveWriter(to: sink, options: Self.options(chunk: 64 << 10), cancellation: token)
        #expect(throws: ArchiveError.self) {
          try writer.appendTree(at: Array(directory.file("t").utf8), as: Array("t".utf8))
          _ = try writer.finish()
        }
      }()
      // The queue's own release of the lane's closure may come a moment after the lane has ended.
      for _ in 0..<500 where gone != nil { usleep(1000) }
      #expect(gone == nil)
    }
  }

  /// Runs that left threads behind would add some each time.
  @Test func threadsDoNotPileUp() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      try Engine.makeTree(directory.file("t"), seed: 7, fileCount: 80, largeByteCount: 500_000)
      let archive = try Engine.archive(directory.file("t"), chunk: 64 << 10)
      try FileTree.write(archive, to: directory.file("a"))
      func threadCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
      func round(_ number: Int) throws {
        let token = CancellationToken()
        let sink = MemorySink { if $0 == number % 7 + 1 { token.cancel() } }
        var options = WriterOptions()
        options.chunkByteCount = 64 << 10
        options.threadCount = 4
        let writer = try ArchiveWriter(to: sink, options: options, cancellation: token)
        #expect(throws: ArchiveError.self) {
          try writer.appendTree(at: Array(directory.file("t").utf8), as: Array("t".utf8))
          _ = try writer.finish()
        }
        let other = CancellationToken()
        let reader = try ArchiveReader(path: Array(directory.file("a").utf8), threadCount: 4, cancellation: other) {
          _ in
          other.cancel()
        }
        #expect(throws: ArchiveError.self) { _ = try reader.verify() }
        // Released without an end.
        let dropped = try ArchiveWriter(to: MemorySink(), options: options)
        try dropped.appendTree(at: Array(directory.file("t").utf8), as: Array("t".utf8))
      }
      for number in 0..<5 { try round(number) }
      let before = try threadCount()
      for number in 0..<25 { try round(number) }
      let after = try threadCount()
      #expect(after <= before + 6, "\(before) threads, then \(after)")
    }
  }

  @Test func asynchronousTasks() async throws {
    let directory = try #require(TemporaryDirectory.current)
    let content = Self.text(2 << 20)
    let path = directory.file("big")
    for _ in 0..<6 { try FileTree.write(content, to: path) }
    let hasStarted = Locked(false)
    let task = Task {
      try await ArchiveTask.run { token throws(ArchiveError) in
        let writer = try ArchiveWriter(
          to: MemorySink(), options: Self.options(level: 19, chunk: 4 << 20), cancellation: token)
        hasStarted.withLock { $0 = true }
        for index in 0..<100 { try writer.appendTree(at: Array(path.utf8), as: Array("m\(index)".utf8)) }
        return try writer.finish().entryCount
      }
    }
    while !hasStarted.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    let start = ContinuousClock.now
    task.cancel()
    let result = await task.result
    let elapsed = ContinuousClock.now - start
    print("measured: a task ended \(elapsed) after it was cancelled")
    guard case .failure(let error) = result else {
      Issue.record("the task came to its end")
      return
    }
    #expect((error as? ArchiveError)?.code == .cancelled)
    // Cancelled before it has begun.
    let late = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await ArchiveTask.run { token throws(ArchiveError) in
        let writer = try ArchiveWriter(to: MemorySink(), cancellation: token)
        try writer.appendTree(at: Array(path.utf8), as: Array("m".utf8))
        return try writer.finish().entryCount
      }
    }
    late.cancel()
    guard case .failure = await late.result else {
      Issue.record("a task that was cancelled before has run")
      return
    }
  }
}
