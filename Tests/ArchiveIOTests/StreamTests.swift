import ArchiveIO
import Glibc
import Synchronization
import TestSupport
import Testing

/// Two ends of something.
struct Ends {
  var reading: SharedDescriptor
  var writing: SharedDescriptor

  static func pipe() -> Ends {
    var numbers: (Int32, Int32) = (0, 0)
    unsafe withUnsafeMutablePointer(to: &numbers) { pointer in
      _ = unsafe pointer.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe Glibc.pipe($0) }
    }
    return Ends(numbers.0, numbers.1)
  }

  static func sockets() -> Ends {
    var numbers: (Int32, Int32) = (0, 0)
    unsafe withUnsafeMutablePointer(to: &numbers) { pointer in
      _ = unsafe pointer.withMemoryRebound(to: Int32.self, capacity: 2) {
        unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0)
      }
    }
    return Ends(numbers.0, numbers.1)
  }

  private init(_ reading: Int32, _ writing: Int32) {
    for number in [reading, writing] { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    self.reading = SharedDescriptor(Descriptor(adopting: reading))
    self.writing = SharedDescriptor(Descriptor(adopting: writing))
  }
}

enum EndsKind: CaseIterable {
  case pipe, sockets

  func make() -> Ends { self == .pipe ? .pipe() : .sockets() }
}

/// Runs `body` in a thread of its own and cancels `token` after 50 ms; returns the error and the time since then.
private func cancelled(
  _ token: CancellationToken, _ body: @escaping @Sendable () throws -> Void
) async -> (error: SystemError?, delay: Duration) {
  let clock = ContinuousClock()
  let outcome = Mutex<(SystemError?, ContinuousClock.Instant)?>(nil)
  let job = Job {
    let error = capture(body)
    outcome.withLock { $0 = (error, clock.now) }
  }
  job.start()
  try? await Task.sleep(for: .milliseconds(50))
  let start = clock.now
  token.cancel()
  while true {
    if let (error, end) = outcome.withLock({ $0 }) { return (error, end - start) }
    try? await Task.sleep(for: .milliseconds(1))
  }
}

private func capture(_ body: () throws -> Void) -> SystemError? {
  do { try body() } catch { return error as? SystemError }
  return nil
}

@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
  /// What is promised is 200 ms; on a busy machine the threads of the test may have to wait for a core.
  static let tolerance = Duration.milliseconds(1000)

  @Test("Bytes go through whole, whatever the sizes", arguments: EndsKind.allCases)
  func roundTrip(kind: EndsKind) throws {
    var random = SplitMix64(seed: 3)
    let pieces = [1, 0, 70_000, 3, 1 << 20, 4096, 17].map { random.bytes($0) } + (0..<40).map { _ in random.bytes(9) }
    let ends = kind.make()
    let sending = try ends.writing.duplicated().release()
    // Only the thread's descriptor is left: the reader sees the end of the stream after it.
    _ = dup2(ends.reading.rawValue, ends.writing.rawValue)
    let failure = Mutex<(any Error)?>(nil)
    let job = Job {
      do {
        try Self.write(pieces, to: Descriptor(adopting: sending))
      } catch { failure.withLock { $0 = error } }
    }
    job.start()
    var received: [UInt8] = []
    let reader = try DescriptorReader(ends.reading)
    var buffer = [UInt8](repeating: 0, count: 10_007)
    while true {
      let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe reader.read(into: $0) }
      if count == 0 { break }
      received += buffer.prefix(count)
    }
    #expect(received == Array(pieces.joined()))
    #expect(reader.byteCount == Int64(received.count))
    #expect(failure.withLock { $0 == nil })
  }

  private static func write(_ pieces: [[UInt8]], to descriptor: consuming Descriptor) throws {
    let writer = try DescriptorWriter(SharedDescriptor(descriptor))
    let all = Array(pieces.joined())
    try unsafe all.withUnsafeBytes { bytes in
      var start = 0
      var list = unsafe [UnsafeRawBufferPointer]()
      for piece in pieces {
        unsafe list.append(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + piece.count)]))
        start += piece.count
      }
      try unsafe writer.write(list)
    }
    if writer.byteCount != Int64(all.count) { throw SystemError("write", errno: EIO) }
  }

  @Test("A reader that is gone is an error and no signal", arguments: EndsKind.allCases)
  func brokenPipe(kind: EndsKind) async throws {
    let isPipe = kind == .pipe
    await #expect(processExitsWith: .success) { [isPipe = isPipe as Bool] in
      signal(SIGPIPE, SIG_DFL)
      let ends = isPipe ? Ends.pipe() : Ends.sockets()
      let writer = try DescriptorWriter(ends.writing)
      try writer.write([1])
      _ = dup2(0, ends.reading.rawValue)
      for _ in 0..<2 {
        let error = #expect(throws: SystemError.self) { try writer.write([1, 2, 3]) }
        #expect(error?.isBrokenPipe == true)
      }
      // No signal is left behind, and none is blocked that was not before.
      var pending = sigset_t()
      var blocked = sigset_t()
      unsafe sigpending(&pending)
      unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
      let isPending = unsafe sigismember(&pending, SIGPIPE)
      let isBlocked = unsafe sigismember(&blocked, SIGPIPE)
      #expect(isPending == 0 && isBlocked == 0)
    }
  }

  @Test("A writer ends soon after cancellation when the reader has stopped", arguments: EndsKind.allCases)
  func stoppedReader(kind: EndsKind) async throws {
    let ends = kind.make()
    let token = CancellationToken()
    let flags = fcntl(ends.writing.rawValue, F_GETFL)
    let writing = ends.writing
    let (error, delay) = await cancelled(token) {
      try DescriptorWriter(writing, token: token).write([UInt8](repeating: 0, count: 8 << 20))
    }
    #expect(error?.isCancelled == true)
    #expect(delay < Self.tolerance)
    #expect(fcntl(ends.writing.rawValue, F_GETFL) == flags)
  }

  @Test("A reader ends soon after cancellation when nothing comes", arguments: EndsKind.allCases)
  func silentWriter(kind: EndsKind) async throws {
    let ends = kind.make()
    let token = CancellationToken()
    let flags = fcntl(ends.reading.rawValue, F_GETFL)
    let reading = ends.reading
    let (error, delay) = await cancelled(token) {
      let reader = try DescriptorReader(reading, token: token)
      var byte: UInt8 = 0
      _ = try unsafe withUnsafeMutableBytes(of: &byte) { try unsafe reader.read(into: $0) }
    }
    #expect(error?.isCancelled == true)
    #expect(delay < Self.tolerance)
    #expect(fcntl(ends.reading.rawValue, F_GETFL) == flags)
  }

  @Test(
    "A pipe that may not be opened again is written in small steps", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func foreignPipe() async throws {
    await #expect(processExitsWith: .success) {
      let ends = Ends.pipe()
      #expect(Limits.becomePlainUser())
      let path = Array("/proc/self/fd/\(ends.writing.rawValue)".utf8)
      #expect(throws: SystemError.self) { _ = try FileSystem.open(at: FileSystem.currentDirectory, path, .writeOnly) }
      let token = CancellationToken()
      let (error, delay) = await cancelled(token) {
        try DescriptorWriter(ends.writing, token: token).write([UInt8](repeating: 0, count: 8 << 20))
      }
      #expect(error?.isCancelled == true)
      #expect(delay < Self.tolerance)
    }
  }

  @Test("The wrong end of a pipe is refused")
  func wrongEnd() throws {
    let ends = Ends.pipe()
    #expect(throws: SystemError("write", errno: EBADF)) { _ = try DescriptorWriter(ends.reading) }
    #expect(throws: SystemError("read", errno: EBADF)) { _ = try DescriptorReader(ends.writing) }
  }

  @Test("Regular files, to the end, and not after cancellation")
  func files() throws {
    let directory = try TemporaryDirectory()
    let contents = [UInt8](repeating: 5, count: 100_000)
    let path = Array(directory.file("f").utf8)
    let here = FileSystem.currentDirectory
    let file = SharedDescriptor(try FileSystem.open(at: here, path, [.writeOnly, .create], mode: 0o600))
    let token = CancellationToken()
    let writer = try DescriptorWriter(file, token: token)
    #expect(writer.isFile)
    try writer.write(contents)
    let reader = try DescriptorReader(SharedDescriptor(try FileSystem.open(at: here, path, .readOnly)), token: token)
    var back = [UInt8](repeating: 0, count: contents.count + 1)
    let count = try unsafe back.withUnsafeMutableBytes { try unsafe reader.readFully(into: $0) }
    #expect(count == contents.count && Array(back.dropLast()) == contents)
    token.cancel()
    token.cancel()
    #expect(throws: SystemError("cancelled", errno: ECANCELED)) { try writer.write([1]) }
    #expect(throws: SystemError("cancelled", errno: ECANCELED)) { try token.check() }
  }

  @Test("A full device is an error")
  func fullDevice() throws {
    let full = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array("/dev/full".utf8), .writeOnly))
    let error = #expect(throws: SystemError.self) { try DescriptorWriter(full).write([1]) }
    #expect(error?.isOutOfSpace == true)
  }
}
