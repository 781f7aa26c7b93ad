internal import AppMigrationKit
internal import ArchiveIO
internal import Glibc
internal import MigrationWire
internal import TestSupport
import Testing

@Suite("The sample extension in its own process", .inTemporaryDirectory(), .timeLimit(.minutes(10)))
struct SampleProcessTests {
  let root: String

  init() throws {
    root = try #require(TemporaryDirectory.current).path
    try Shell.script(
      "mkdir -p container/Documents/sub staging; cd container/Documents; printf one > 1; printf two > sub/2",
      directory: root)
  }

  private var container: String { root + "/container" }

  /// Starts the sample with the other end of a socket as descriptor 3.
  private func launch() throws -> (system: FakeSystem, process: pid_t) {
    let (system, own) = try MessageSocket.pair()
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // Through another number: the same number would stay close-on-exec.
    let copy = try own.descriptor.duplicated()
    unsafe posix_spawn_file_actions_adddup2(&actions, copy.rawValue, 3)
    let program = Shell.builtProduct("SampleExtension")
    var arguments = unsafe [strdup(program), nil]
    var environment = unsafe [strdup("APP_MIGRATION_SOCKET=3"), strdup("PATH=/usr/bin:/bin"), nil]
    defer {
      for index in unsafe arguments.indices { unsafe free(arguments[index]) }
      for index in unsafe environment.indices { unsafe free(environment[index]) }
    }
    var process: pid_t = 0
    let error = unsafe posix_spawn(&process, program, &actions, nil, &arguments, &environment)
    if error != 0 { throw SystemError("posix_spawn", errno: error, path: Array(program.utf8)) }
    return (FakeSystem(system), process)
  }

  /// The status of a process that has nothing left to do but to end.
  private func exitStatus(_ process: pid_t) -> Int32 {
    var status: Int32 = 0
    _ = unsafe waitpid(process, &status, 0)
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  @Test("It exports by value from the granted container, runs the main actor on the main thread, and exits with 0")
  func exports() async throws {
    let (system, process) = try launch()
    let description = try await system.start(.exportToAndroid, container: container)
    #expect(
      description
        == ExtensionDescription(exports: true, imports: true, sizeEstimate: 6, version: "2.0", isCompressible: true))
    let (items, last) = try await system.takeItems()
    #expect(items.map(\.name) == ["1", "sub/2"])
    #expect(items.map(\.content) == [.file(Array("one".utf8)), .file(Array("two".utf8))])
    #expect(last == .finished)
    #expect(exitStatus(process) == 0)
  }

  @Test("It imports what it knows, and tells its progress")
  func imports() async throws {
    try Shell.script("rm -r container/Documents; mkdir staging/x; printf y > staging/x/y", directory: root)
    let (system, process) = try launch()
    _ = try await system.start(.importing(root + "/staging", version: "1.0"), container: container)
    var messages = [try await system.message()]
    while messages.last != .finished { messages.append(try await system.message()) }
    #expect(messages.suffix(2) == [.progress(completed: 100, total: 100), .finished])
    #expect(exitStatus(process) == 0)
    #expect(try FileTree.read(container + "/Documents/x/y") == Array("y".utf8))
  }

  @Test("An error is told, and the exit status is 0 since it was")
  func fails() async throws {
    let (system, process) = try launch()
    _ = try await system.start(.importing(root + "/staging", version: "7"), container: container)
    var message = try await system.message()
    while case .progress = message { message = try await system.message() }
    guard case .failed(let record) = message else { throw FakeSystem.Unexpected(message: message) }
    #expect(record.domain == "SampleExtension.SampleExtension.Fault" && record.code == 1)
    #expect(exitStatus(process) == 0)
  }

  @Test("It does not outlive the system's end of the socket")
  func endsWithSystem() async throws {
    let process: pid_t
    do {
      let (system, started) = try launch()
      process = started
      try system.send(
        .begin(MigrationTask(action: .exportToAndroid, bundleIdentifier: "x", containerPath: Array(container.utf8))))
      _ = try await system.message()
    }
    #expect(exitStatus(process) == 76)
  }

  @Test("A description takes little time and no processor while it waits")
  func startsFast() async throws {
    let clock = ContinuousClock()
    var times: [Duration] = []
    for _ in 0..<5 {
      let start = clock.now
      let (system, process) = try launch()
      _ = try await system.start(.describe, container: container)
      #expect(try await system.message() == .finished)
      #expect(exitStatus(process) == 0)
      times.append(clock.now - start)
    }
    print("start, description, end: \(times.min() ?? .zero) at best of 5")
    let (system, process) = try launch()
    try system.send(
      .begin(MigrationTask(action: .exportToAndroid, bundleIdentifier: "x", containerPath: Array(container.utf8))))
    _ = try await system.message()
    // The main thread must sleep in its loop, not spin.
    let before = try processorTicks(process)
    try await Task.sleep(for: .milliseconds(300))
    #expect(try processorTicks(process) - before <= 5)
    try system.send(.cancel)
    guard case .failed = try await system.message() else { throw FakeSystem.Timeout() }
    #expect(exitStatus(process) == 0)
  }

  /// User and system time in hundredths of a second.
  private func processorTicks(_ process: pid_t) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    return (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
  }

  @Test("Started by hand, it says what it is and how to run it")
  func explains() throws {
    let result = try Shell.run([Shell.builtProduct("SampleExtension")])
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.errorText.contains("SampleExtension is a migration extension"))
    #expect(result.errorText.contains("appmigrate export --extension SampleExtension"))
    for value in ["", "x", "1", "999"] {
      let result = try Shell.run(
        [Shell.builtProduct("SampleExtension")], environment: ["APP_MIGRATION_SOCKET": value])
      #expect(result.status == 64 && result.errorText.contains("no socket of a migration system"))
    }
  }
}
