internal import AppMigrationKit
internal import MigrationWire
internal import TestSupport
import Testing
internal import UsagePatterns

/// The patterns compile as an app's developer writes them; here they also do what they say.
@Suite("Published usage patterns", .inTemporaryDirectory(), .timeLimit(.minutes(10)))
struct UsagePatternTests {
  let root: String

  init() throws {
    root = try #require(TemporaryDirectory.current).path
    try Shell.script(
      "mkdir -p Documents/a/b staging/documents; printf 12345 > Documents/a/b/c; printf 1 > Documents/.hidden; printf 2 > staging/documents/x",
      directory: root)
  }

  private func items(_ type: any AppMigrationExtension.Type, platform: String = "android") async throws -> [ItemMessage]
  {
    try await FakeSystem.run(type) { [root] system async throws in
      _ = try await system.start(.export(platform: platform, options: []), container: root)
      let (items, last) = try await system.takeItems()
      #expect(last == .finished)
      return items
    }
  }

  @Test("Short exporters hand over the directory of documents")
  func shortExporters() async throws {
    for type in [ShortExporter.self, CombinedExtension.self] as [any AppMigrationExtension.Type] {
      let items = try await items(type)
      #expect(items.map(\.name) == ["Documents"] && items.map(\.content) == [.descriptor])
    }
  }

  @Test("An estimate that is measured, with a tenth more")
  func estimate() async throws {
    let description = try await FakeSystem.run(ShortExporter.self) { [root] system async throws in
      (try await system.start(.describe, container: root), try await system.message()).0
    }
    #expect(description.sizeEstimate >= 6)
  }

  @Test("A walk hands over each file with its relative path")
  func walkingExporter() async throws {
    #expect(try await items(WalkingExporter.self).map(\.name) == ["a/b/c"])
  }

  @Test(
    "The destination chooses the layout", arguments: [("android", "app/files"), ("windows", "AppData"), ("x", "data")])
  func platformExporter(_ platform: String, _ path: String) async throws {
    #expect(try await items(PlatformExporter.self, platform: platform).map(\.name) == [path])
  }

  @Test("A versioned import empties its group, then moves what its version knows")
  func versionedImporter() async throws {
    try Shell.script("mkdir group; touch group/old", directory: root)
    let last = try await FakeSystem.run(VersionedImporter.self) { [root] system async throws in
      let group = MigrationTask.Group(identifier: "group.com.example.app", path: Array((root + "/group").utf8))
      _ = try await system.start(.importing(root + "/staging", version: "2.1"), container: root, groups: [group])
      var message = try await system.message()
      while case .progress = message { message = try await system.message() }
      return message
    }
    #expect(last == .finished)
    #expect(try FileTree.read(root + "/Documents/documents/x") == Array("2".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/group").isEmpty)
  }

  @Test("Requests as tests write them")
  func requests() {
    #expect(Requests.export.destinationPlatform == Requests.short.destinationPlatform)
    #expect(Requests.import.sourceAppIdentifier.bundleIdentifier == Requests.source.bundleIdentifier)
  }
}
