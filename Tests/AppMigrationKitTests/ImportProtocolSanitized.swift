internal import AppMigrationKit
internal import ArchiveIO
internal import MigrationWire
internal import TestSupport
import Testing
internal import UsagePatterns

@Suite("An import over the socket", .inTemporaryDirectory(), .timeLimit(.minutes(10)))
struct ImportProtocolSanitized {
  let root: String

  init() throws { root = try #require(TemporaryDirectory.current).path }

  @Test("The extension gets the staging directory, the version and the source")
  func passesRequest() async throws {
    let seen = Locked<(url: URL, request: ResourcesImportRequest)?>(nil)
    ScriptedImporter.setScript(root) { _, url, request in seen.withLock { $0 = (url, request) } }
    let staging = root + "/staging dir"
    try await play(.importing(staging, version: "3.1")) { system async throws in
      #expect(try await Self.end(system) == .finished)
    }
    let (url, request) = try #require(seen.withLock { $0 })
    #expect(url.isFileURL && url.hasDirectoryPath && url.path == staging)
    #expect(request.sourceVersion == "3.1")
    #expect(request.sourceAppIdentifier.storeIdentifier == .googlePlay)
    #expect(request.sourceAppIdentifier.bundleIdentifier == "com.example.app")
    #expect(request.sourceAppIdentifier.platform == .android)
  }

  @Test("Progress is read anew while the import runs, and sent when it has changed")
  func reportsProgress() async throws {
    let mayEnd = Locked(false)
    ScriptedImporter.setScript(root) { _, _, _ in
      while !mayEnd.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    }
    try await play(.importing(root)) { system async throws in
      // The property gives another object at each read; the import itself changes none.
      for step in 0...5 {
        #expect(try await system.message() == .progress(completed: Int64(step), total: 5))
      }
      mayEnd.withLock { $0 = true }
      #expect(try await system.message() == .finished)
    }
  }

  @Test("What was reached in the end is told before the end, however short the import is")
  func reportsLastProgress() async throws {
    let container = root + "/container"
    try FileManager.default.createDirectory(atPath: container, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: root + "/staging/Documents", withIntermediateDirectories: true)
    try await FakeSystem.run(CombinedExtension.self) { [root] system async throws in
      _ = try await system.start(.importing(root + "/staging"), container: container)
      #expect(try await system.message() == .progress(completed: 1, total: 1))
      #expect(try await system.message() == .finished)
    }
    #expect(FileManager.default.fileExists(atPath: container + "/Documents"))
  }

  @Test("An importer is not asked for what exporters tell")
  func describesImporter() async throws {
    ScriptedImporter.setScript(root) { _, _, _ in }
    try await play(.importing(root)) { system async throws in _ = try await Self.end(system) }
  }

  @Test("A thrown error is sent as a record")
  func sendsFailure() async throws {
    let last = try await FakeSystem.run(VersionedImporter.self) { system async throws in
      _ = try await system.start(.importing("/nowhere", version: "9.9"))
      return try await Self.end(system)
    }
    guard case .failed(let record) = last else { throw FakeSystem.Unexpected(message: last) }
    #expect(record.domain == "UsagePatterns.ImportFailure")
  }

  @Test("A cancel cancels the import's task")
  func cancels() async throws {
    ScriptedImporter.setScript(root) { _, _, _ in try await Task.sleep(for: .seconds(1000)) }
    let last = try await play(.importing(root)) { system async throws in
      try system.send(.cancel)
      return try await Self.end(system)
    }
    guard case .failed(let record) = last else { throw FakeSystem.Unexpected(message: last) }
    #expect(record.domain == "Swift.CancellationError")
  }

  @Test("Nothing is imported before the system says so")
  func waitsForProceed() async throws {
    let isCalled = Locked(false)
    ScriptedImporter.setScript(root) { _, _, _ in isCalled.withLock { $0 = true } }
    let last = try await FakeSystem.run(ScriptedImporter.self) { [root] system async throws in
      let task = MigrationTask(
        action: .importing(root), bundleIdentifier: "com.example.app", containerPath: Array(root.utf8))
      try system.send(.begin(task))
      _ = try await system.message()
      try system.send(.cancel)
      return try await Self.end(system)
    }
    guard case .failed = last else { throw FakeSystem.Unexpected(message: last) }
    #expect(!isCalled.withLock { $0 })
  }

  @Test("Several runs in one process see their own containers and groups")
  func bindsContexts() async throws {
    let seen = Locked<[String: [String]]>([:])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in ["a", "b", "c"] {
        let container = root + "/" + name
        ScriptedImporter.setScript(container) { importer, _, _ in
          let container = importer.appContainer
          let granted = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group." + name)
          let other = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.other")
          seen.withLock {
            $0[name] = [
              container.bundleIdentifier, container.documentsDirectory.path, container.applicationSupportDirectory.path,
              granted?.path ?? "nil", other?.path ?? "nil",
            ]
          }
        }
        group.addTask {
          try await FakeSystem.run(ScriptedImporter.self) { system async throws in
            let granted = MigrationTask.Group(identifier: "group." + name, path: Array((container + "-group").utf8))
            _ = try await system.start(.importing("/nowhere"), container: container, groups: [granted])
            _ = try await Self.end(system)
          }
        }
      }
      try await group.waitForAll()
    }
    for name in ["a", "b", "c"] {
      let place = root + "/" + name
      let expected = [
        "com.example.app", place + "/Documents", place + "/Library/Application Support", place + "-group", "nil",
      ]
      #expect(seen.withLock { $0[name] } == expected)
    }
    #expect(FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.a") == nil)
  }

  @discardableResult
  private func play<Result: Sendable>(
    _ action: MigrationTask.Action, _ play: @Sendable (FakeSystem) async throws -> Result
  ) async throws -> Result {
    try await FakeSystem.run(ScriptedImporter.self) { [root] system async throws in
      let description = try await system.start(action, container: root)
      #expect(description == ExtensionDescription(exports: false, imports: true))
      return try await play(system)
    }
  }

  /// The first message that is no progress.
  private static func end(_ system: FakeSystem) async throws -> ExtensionMessage {
    while true {
      let message = try await system.message()
      if case .progress = message { continue }
      return message
    }
  }
}
