internal import AppMigrationKit
internal import ArchiveIO
internal import MigrationWire
internal import TestSupport
import Testing
internal import UsagePatterns

@Suite("An export over the socket", .inTemporaryDirectory(), .timeLimit(.minutes(10)))
struct ExportProtocolSanitized {
  let root: String

  init() throws { root = try #require(TemporaryDirectory.current).path }

  /// Runs a script as an export whose container is the test's directory.
  private func export<Result: Sendable>(
    _ script: @escaping ScriptedExporter.Work, _ play: @Sendable (FakeSystem) async throws -> Result
  ) async throws -> Result {
    ScriptedExporter.setScript(root, script)
    return try await FakeSystem.run(ScriptedExporter.self) { [root] system in
      _ = try await system.start(.exportToAndroid, container: root)
      return try await play(system)
    }
  }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: root).appendingPathComponent(name) }

  private func fill(_ names: String..., byteCount: Int = 10) throws {
    for name in names { try FileTree.write([UInt8](repeating: 7, count: byteCount), to: root + "/" + name) }
  }

  @Test("A description tells both sides, the estimate, the version and whether to compress")
  func describes() async throws {
    let (description, last) = try await FakeSystem.run(ScriptedExporter.self) { system in
      (try await system.start(.describe), try await system.message())
    }
    #expect(
      description
        == ExtensionDescription(
          exports: true, imports: false, sizeEstimate: 77, version: "scripted", isCompressible: false))
    #expect(last == .finished)
    let importer = try await FakeSystem.run(ScriptedImporter.self) { system in
      (try await system.start(.describe), try await system.message()).0
    }
    #expect(importer == ExtensionDescription(exports: false, imports: true))
  }

  @Test("A small file goes by value with its mode and time, without a reply; the last one asks for one")
  func sendsByValue() async throws {
    try FileTree.write([1, 2, 3], to: root + "/a", mode: 0o640)
    try FileSystem.setTimes(
      at: FileSystem.currentDirectory, Array("\(root)/a".utf8), modificationSeconds: -7, nanoseconds: 8)
    try fill("b")
    let (items, last) = try await export { [a = url("a"), b = url("b")] _, archiver in
      try await archiver.appendItem(at: a)
      try await archiver.appendItem(at: b, pathInArchive: "x/y")
    } _: {
      try await $0.takeItems()
    }
    #expect(
      items == [
        ItemMessage(
          number: 1, wantsReply: false, path: Array("a".utf8), content: .file([1, 2, 3]), mode: 0o640,
          modificationSeconds: -7, modificationNanoseconds: 8),
        items[1],
      ])
    #expect(items[1].name == "x/y" && items[1].number == 2 && items[1].wantsReply)
    #expect(last == .finished)
  }

  @Test("A large file goes as a descriptor and the call returns with the reply")
  func sendsDescriptor() async throws {
    try fill("large", byteCount: 100_000)
    let hasReturned = Locked(false)
    let before = try await export { [large = url("large")] _, archiver in
      try await archiver.appendItem(at: large)
      hasReturned.withLock { $0 = true }
    } _: { system in
      let (item, descriptor) = try await system.item()
      #expect(item.content == .descriptor && item.wantsReply && item.name == "large")
      let status = try FileSystem.status(of: try #require(descriptor).rawValue)
      #expect(status.kind == .regular && status.byteCount == 100_000)
      let before = hasReturned.withLock { $0 }
      try system.send(.reply(number: item.number, .accepted))
      #expect(try await system.message() == .finished)
      return before
    }
    #expect(!before && hasReturned.withLock { $0 })
  }

  @Test("A directory goes as a descriptor, a symlink by value and not followed")
  func sendsDirectoryAndSymlink() async throws {
    try FileSystem.makeDirectory(at: FileSystem.currentDirectory, Array("\(root)/d".utf8), mode: 0o755)
    try FileSystem.makeSymlink(to: Array("d/nothing".utf8), at: FileSystem.currentDirectory, Array("\(root)/l".utf8))
    let items = try await export { [d = url("d"), l = url("l")] _, archiver in
      try await archiver.appendItem(at: d, pathInArchive: "data/")
      try await archiver.appendItem(at: l)
    } _: { system in
      let (directory, descriptor) = try await system.item()
      #expect(try FileSystem.status(of: try #require(descriptor).rawValue).kind == .directory)
      try system.send(.reply(number: directory.number, .accepted))
      return [directory] + (try await system.takeItems().items)
    }
    #expect(items.map(\.name) == ["data", "l"])
    #expect(items.last?.content == .symlink(Array("d/nothing".utf8)))
  }

  @Test("A refused descriptor is thrown by its own call, and the path may be used again")
  func throwsRefusal() async throws {
    try fill("large", byteCount: 100_000)
    let last = try await export { [large = url("large")] _, archiver in
      let error = await #expect(throws: ResourcesArchiverError.self) { try await archiver.appendItem(at: large) }
      #expect(error == ResourcesArchiverError("it shrank", path: "large"))
      #expect(error?.localizedDescription == "large: it shrank")
      try await archiver.appendItem(at: large)
    } _: { system in
      try await system.takeItems { $0.number == 1 ? .refused(message: "it shrank") : .accepted }
    }
    #expect(last.items.map(\.number) == [1, 2] && last.last == .finished)
  }

  @Test("A refused small file is thrown once, by the next call, whose own item is left out")
  func throwsLateRefusal() async throws {
    try fill("a", "b", "c")
    try fill("large", byteCount: 100_000)
    let (items, last) = try await export { [a = url("a"), b = url("b"), large = url("large")] _, archiver in
      try await archiver.appendItem(at: a)
      // Its reply comes after that of the small file.
      try await archiver.appendItem(at: large)
      let error = await #expect(throws: ResourcesArchiverError.self) { try await archiver.appendItem(at: b) }
      #expect(error == ResourcesArchiverError("taken", path: "a"))
      try await archiver.appendItem(at: b)
      try await archiver.appendItem(at: b, pathInArchive: "a")
    } _: { system in
      try await system.takeItems { $0.number == 1 ? .refused(message: "taken") : .accepted }
    }
    #expect(items.map(\.name) == ["a", "large", "b", "a"])
    #expect(last == .finished)
  }

  @Test("A refusal that no call has seen fails the export in place of its end")
  func failsWithUnseenRefusal() async throws {
    try fill("a", "b")
    for refused in [UInt64(1), 2] {
      let last = try await export { [a = url("a"), b = url("b")] _, archiver in
        try await archiver.appendItem(at: a)
        try await archiver.appendItem(at: b)
      } _: { system in
        try await system.takeItems { $0.number == refused ? .refused(message: "no more space") : .accepted }.last
      }
      guard case .failed(let record) = last else {
        Issue.record("\(last)")
        continue
      }
      #expect(record.domain == "AppMigrationKit.ResourcesArchiverError")
      #expect(record.description == (refused == 1 ? "a" : "b") + ": no more space")
    }
  }

  @Test("After a cancel a waiting call and all later ones throw, and the task is cancelled")
  func cancels() async throws {
    try fill("a")
    try fill("large", byteCount: 100_000)
    let last = try await export { [a = url("a"), large = url("large")] _, archiver in
      await #expect(throws: CancellationError.self) { try await archiver.appendItem(at: large) }
      await #expect(throws: CancellationError.self) { try await archiver.appendItem(at: a) }
      while !Task.isCancelled { await Task.yield() }
      try await archiver.appendItem(at: a, pathInArchive: "again")
    } _: { system in
      _ = try await system.item()
      try system.send(.cancel)
      return try await system.message()
    }
    guard case .failed(let record) = last else { throw FakeSystem.Unexpected(message: last) }
    #expect(record.domain == "Swift.CancellationError")
  }

  @Test("An export that swallows the cancel does not finish")
  func doesNotFinishAfterCancel() async throws {
    let last = try await export { _, _ in
      while !Task.isCancelled { await Task.yield() }
    } _: { system in
      try system.send(.cancel)
      return try await system.message()
    }
    guard case .failed = last else { throw FakeSystem.Unexpected(message: last) }
  }

  @Test("A call that waits for room in the socket throws when the run is cancelled")
  func cancelsFullSocket() async throws {
    try fill("f", byteCount: 60_000)
    let count = Locked(0)
    let last = try await export { [f = url("f")] _, archiver in
      while true {
        try await archiver.appendItem(at: f, pathInArchive: "\(count.withLock { $0 })")
        count.withLock { $0 += 1 }
      }
    } _: { system in
      // Nothing is taken until the count has stood still for a while: the socket is full.
      var seen = -1
      while seen != count.withLock({ $0 }) || seen <= 0 {
        seen = count.withLock { $0 }
        try await Task.sleep(for: .milliseconds(50))
      }
      try system.send(.cancel)
      return try await system.takeItems().last
    }
    guard case .failed(let record) = last else { throw FakeSystem.Unexpected(message: last) }
    #expect(record.domain == "Swift.CancellationError")
  }

  @Test("All items arrive in order though the socket is full again and again")
  func keepsOrder() async throws {
    try fill("f", byteCount: 20_000)
    let items = try await export { [f = url("f")] _, archiver in
      for number in 1...300 { try await archiver.appendItem(at: f, pathInArchive: "\(number)") }
    } _: {
      try await $0.takeItems().items
    }
    #expect(items.map(\.name) == (1...300).map(String.init))
    #expect(items.map(\.number) == Array(1...300))
  }

  @Test("Calls from many tasks at once lose and mix up nothing")
  func takesConcurrentCalls() async throws {
    try fill("small", byteCount: 3000)
    try fill("large", byteCount: 70_000)
    let items = try await export { [small = url("small"), large = url("large")] _, archiver in
      let shared = SharedArchiver(archiver)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for number in 0..<50 {
              try await shared.archiver.appendItem(
                at: number % 10 == 0 ? large : small, pathInArchive: "\(task)/\(number)")
            }
          }
        }
        try await group.waitForAll()
      }
    } _: {
      try await $0.takeItems().items
    }
    #expect(items.map(\.number) == Array(1...400))
    #expect(Set(items.map(\.name)).count == 400)
    let wrong = items.filter { item in
      if item.name.hasSuffix("0") { return item.content != .descriptor }
      guard case .file(let bytes) = item.content else { return true }
      return bytes.count != 3000
    }
    #expect(wrong.isEmpty)
  }

  @Test("An archiver that is kept takes nothing after the export")
  func refusesAfterEnd() async throws {
    try fill("a")
    let kept = Locked<SharedArchiver?>(nil)
    let last = try await export { _, archiver in
      let shared = SharedArchiver(archiver)
      kept.withLock { $0 = shared }
    } _: {
      try await $0.takeItems().last
    }
    #expect(last == .finished)
    let shared = try #require(kept.withLock { $0 })
    let error = await #expect(throws: ResourcesArchiverError.self) {
      try await shared.archiver.appendItem(at: url("a"))
    }
    #expect(error?.localizedDescription.contains("has ended") == true)
  }

  @Test("Options of the destination come by key; keys that the extension does not know are left out")
  func passesOptions() async throws {
    let options = [("quality", "9"), ("unknown", "1")].map {
      MigrationTask.Option(key: $0.0, value: Array($0.1.utf8))
    }
    let items = try await FakeSystem.run(OptionsExporter.self) { system in
      _ = try await system.start(.export(platform: "android", options: options))
      return try await system.takeItems().items
    }
    #expect(items.map(\.name) == ["quality"])
    #expect(items.first?.content == .file(Array("9".utf8)))
  }

  @Test("An error of the extension goes out as domain, code, description and strings")
  func sendsFailure() async throws {
    let last = try await export { _, _ in
      throw NSError(domain: "d", code: 9, userInfo: [NSLocalizedDescriptionKey: "why", "a": "b", "n": 1])
    } _: {
      try await $0.takeItems().last
    }
    guard case .failed(let record) = last else { throw FakeSystem.Unexpected(message: last) }
    #expect((record.domain, record.code, record.description) == ("d", 9, "why"))
    #expect(record.userInfo == ["a": "b", NSLocalizedDescriptionKey: "why"])
  }

  @Test("An extension that cannot do what it was started for says so")
  func failsForMissingSide() async throws {
    let last = try await FakeSystem.run(ScriptedImporter.self) { system in
      let description = try await system.start(.exportToAndroid)
      #expect(!description.exports)
      return try await system.message()
    }
    guard case .failed(let record) = last else { throw FakeSystem.Unexpected(message: last) }
    #expect(record.description == "The extension cannot export.")
  }

  @Test("When the system goes away, calls throw and the run ends with an error")
  func noticesLoss() async throws {
    try fill("large", byteCount: 100_000)
    let seen = Locked<(any Error)?>(nil)
    ScriptedExporter.setScript(root) { [large = url("large")] _, archiver in
      do { try await archiver.appendItem(at: large) } catch {
        seen.withLock { $0 = error }
        throw error
      }
    }
    let (system, own) = try MessageSocket.pair()
    let isLost = Locked(false)
    let play = Task { [root] in
      let system = FakeSystem(system)
      _ = try await system.start(.exportToAndroid, container: root)
      _ = try await system.item()
      system.leave()
    }
    let served = Task {
      try await ExtensionRun.serve(ScriptedExporter.self, over: own, scope: .tasks) { isLost.withLock { $0 = true } }
    }
    try await play.value
    await #expect(throws: SystemError.self) { try await served.value }
    #expect(isLost.withLock { $0 })
    #expect(seen.withLock { $0 } is SystemError)
  }
}
