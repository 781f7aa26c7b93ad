import AppMigrationHost
import ArchiveIO
import MigrationWire
import TestSupport
import Testing

@testable import AppMigrationKit

/// Answers about hangs, cancels and failures, by the system itself, whose times a tester does not let choose.
@Suite(.inTemporaryDirectory(), .timeLimit(.minutes(10)))
struct DecisionWatchTests {
  private let root: String

  init() throws {
    root = try #require(TemporaryDirectory.current).path
    try Shell.script("mkdir -p container/Documents resources", directory: root)
  }

  private var archive: String { root + "/archive" }

  private func place(_ type: any AppMigrationExtension.Type) -> ExtensionPlace {
    var place = ExtensionPlace(containerPath: Array((root + "/container").utf8))
    place.embedded = EmbeddedExtension(bundleIdentifier: "org.example") { () throws(MigrationError) in
      try InProcessExtension(type)
    }
    return place
  }

  /// Runs a blocking call on a thread of its own.
  private func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws(MigrationError) -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        do throws(MigrationError) { continuation.resume(returning: try body()) } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  private func export(
    hang: Duration? = nil, onEvent: @escaping @Sendable (MigrationEvent) -> Void = { _ in },
    _ work: @escaping ScriptedExporter.Work
  ) async throws -> ExportSummary {
    ScriptedExporter.setScript(root + "/container", work)
    var options = ExportOptions(place(ScriptedExporter.self), output: .file(Array(archive.utf8)))
    options.timeouts.hang = hang
    let chosen = options
    return try await run { () throws(MigrationError) in try MigrationSystem.export(chosen, onEvent: onEvent) }
  }

  private var leftovers: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: root))?.sorted() ?? []
  }

  @Test func anExtensionMayDoNothingFor30SecondsByDefault() {
    #expect(MigrationTimeouts().hang == .seconds(30))
    #expect(MigrationTimeouts().cancelGrace == .seconds(5))
  }

  @Test func anExtensionThatDoesNothingForTooLongIsEnded() async throws {
    let error = await #expect(throws: MigrationError.self) {
      try await export(hang: .milliseconds(300)) { _, _ in try await Task.sleep(for: .seconds(3600)) }
    }
    #expect(error?.code == .hang)
    #expect(!leftovers.contains("archive"))
  }

  @Test func aLongItemIsNoHang() async throws {
    try Data(repeating: 0x61, count: 48 << 20).write(to: URL(fileURLWithPath: root + "/container/Documents/long"))
    let hang = Duration.seconds(2)
    // Each mebibyte is held up, so that the one call takes longer than may pass without a sign of life.
    let summary = try await export(
      hang: hang, onEvent: { if case .bytes = $0 { Thread.sleep(forTimeInterval: 0.3) } },
      { exporter, archiver in
        try await archiver.appendItem(at: exporter.appContainer.documentsDirectory.appendingPathComponent("long"))
      })
    #expect(summary.duration > hang)
    #expect(summary.uncompressedByteCount == 48 << 20)
  }

  @Test func anExportThatThrowsLeavesNothingAndItsCallerGetsTheError() async throws {
    let error = await #expect(throws: MigrationError.self) {
      try await export { exporter, archiver in
        let file = exporter.appContainer.documentsDirectory.appendingPathComponent("file")
        try Data(repeating: 1, count: 200_000).write(to: file)
        try await archiver.appendItem(at: file)
        throw TestedExtension.Fault(reason: "on purpose")
      }
    }
    #expect(error?.code == .extensionFailed)
    #expect(error?.extensionError?.description == "on purpose")
    #expect(leftovers.filter { $0.contains("archive") } == [])
  }

  @Test func otherSpellingsAreOtherPaths() async throws {
    let summary = try await export { exporter, archiver in
      let file = exporter.appContainer.documentsDirectory.appendingPathComponent("file")
      try Data(repeating: 1, count: 200_000).write(to: file)
      let paths = ["a", "A", "\u{E9}", "e\u{301}"]
      for path in paths { try await archiver.appendItem(at: file, pathInArchive: path) }
      for path in paths {
        await #expect(throws: ResourcesArchiverError.self) {
          try await archiver.appendItem(at: file, pathInArchive: path)
        }
      }
    }
    #expect(summary.itemCount == 4)
  }

  @Test(arguments: [["a", "a/b"], ["a/b/c", "a"], ["a/b/c", "a/b"]])
  func aFileThatWouldBeAnothersParentIsRefused(paths: [String]) async throws {
    let summary = try await export { exporter, archiver in
      let documents = exporter.appContainer.documentsDirectory
      let file = documents.appendingPathComponent("file")
      try Data(repeating: 1, count: 10).write(to: file)
      try await archiver.appendItem(at: file, pathInArchive: paths[0])
      let error = await #expect(throws: ResourcesArchiverError.self) {
        try await archiver.appendItem(at: file, pathInArchive: paths[1])
      }
      #expect(error?.path == paths[1])
      // A call that failed takes nothing, and directories may be parents.
      await #expect(throws: ResourcesArchiverError.self) {
        try await archiver.appendItem(at: documents.appendingPathComponent("none"), pathInArchive: "d/e")
      }
      try await archiver.appendItem(at: file, pathInArchive: "d")
      try FileManager.default.createDirectory(
        at: documents.appendingPathComponent("directory"), withIntermediateDirectories: true)
      try await archiver.appendItem(at: documents.appendingPathComponent("directory"), pathInArchive: "x")
      try await archiver.appendItem(at: file, pathInArchive: "x/y")
      try FileManager.default.removeItem(at: file)
      try FileManager.default.removeItem(at: documents.appendingPathComponent("directory"))
    }
    #expect(summary.itemCount == 4)
    ScriptedImporter.setScript(root + "/container") { _, url, _ in
      #expect(FileManager.default.fileExists(atPath: url.appendingPathComponent("x/y").path))
    }
    let options = ImportOptions(place(ScriptedImporter.self), input: .file(Array(archive.utf8)))
    _ = try await run { () throws(MigrationError) in try MigrationSystem.importArchive(options) }
  }

  /// An archive with one file.
  private func makeArchive() async throws {
    let summary = try await export { exporter, archiver in
      let file = exporter.appContainer.documentsDirectory.appendingPathComponent("file")
      try Data("content".utf8).write(to: file)
      try await archiver.appendItem(at: file)
      try FileManager.default.removeItem(at: file)
    }
    #expect(summary.itemCount == 1)
  }

  private func expectStoredFailure() throws {
    let status = try MigrationSystem.status(
      bundleIdentifier: "org.example", containerPath: Array((root + "/container").utf8))
    #expect(status?.isSuccess == false)
    #expect(!FileManager.default.fileExists(atPath: root + "/.container.migration/staging"))
  }

  @Test func anImportThatDoesNothingIsEndedAndTheContainerEmptied() async throws {
    try await makeArchive()
    ScriptedImporter.setScript(root + "/container") { importer, url, _ in
      try FileManager.default.moveItem(
        at: url.appendingPathComponent("file"),
        to: importer.appContainer.documentsDirectory.appendingPathComponent("file"))
      try await Task.sleep(for: .seconds(3600))
    }
    var options = ImportOptions(place(ScriptedImporter.self), input: .file(Array(archive.utf8)))
    options.timeouts.hang = .milliseconds(300)
    let chosen = options
    let error = await #expect(throws: MigrationError.self) {
      try await run { () throws(MigrationError) in try MigrationSystem.importArchive(chosen) }
    }
    #expect(error?.code == .hang)
    #expect(!FileManager.default.fileExists(atPath: root + "/container/Documents/file"))
    try expectStoredFailure()
  }

  @Test func anExtensionThatEndsEarlyHasCrashedAndTheContainerComesBack() async throws {
    try await makeArchive()
    try Shell.script(
      """
      cp /bin/true extension; printf kept > container/Documents/kept
      cat > extension.entitlements <<END
      <plist version="1.0"><dict><key>com.apple.developer.app-migration.data-container-access</key>
      <array><string>org.example</string></array></dict></plist>
      END
      """, directory: root)
    var options = ImportOptions(executable: Array((root + "/extension").utf8), input: .file(Array(archive.utf8)))
    options.containerPath = Array((root + "/container").utf8)
    options.replaces = true
    let chosen = options
    let error = await #expect(throws: MigrationError.self) {
      try await run { () throws(MigrationError) in try MigrationSystem.importArchive(chosen) }
    }
    #expect(error?.code == .crashed)
    #expect(try Shell.script("cat container/Documents/kept", directory: root) == "kept")
    try expectStoredFailure()
  }

  @Test func anImportThatSwallowsACancelIsEndedAfterTheGrace() async throws {
    try await makeArchive()
    let token = CancellationToken()
    let wasCancelled = Locked(false)
    ScriptedImporter.setScript(root + "/container") { importer, url, _ in
      try FileManager.default.moveItem(
        at: url.appendingPathComponent("file"),
        to: importer.appContainer.documentsDirectory.appendingPathComponent("file"))
      token.cancel()
      while !Task.isCancelled { await Task.yield() }
      wasCancelled.withLock { $0 = true }
      await Task.detached { try? await Task.sleep(for: .seconds(6)) }.value
    }
    var options = ImportOptions(place(ScriptedImporter.self), input: .file(Array(archive.utf8)))
    options.timeouts.cancelGrace = .seconds(2)
    let chosen = options
    let error = await #expect(throws: MigrationError.self) {
      try await run { () throws(MigrationError) in try MigrationSystem.importArchive(chosen, cancellation: token) }
    }
    #expect(error?.code == .cancelled && error?.message.contains("was ended") == true)
    #expect(wasCancelled.withLock { $0 })
    #expect(!FileManager.default.fileExists(atPath: root + "/container/Documents/file"))
    try expectStoredFailure()
  }
}
