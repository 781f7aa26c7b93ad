internal import AppMigrationHost
internal import AppMigrationKit
internal import ArchiveIO
internal import MigrationWire
internal import TestSupport
import Testing

/// What the system stores, read by an app. In the suite whose tests run one after another: identity and status are the process's.
extension StatusTests {
  /// Runs `body` as an app with a container of its own.
  private func asApp(_ body: (ContainerLayout, TemporaryDirectory) throws -> Void) throws {
    let directory = try TemporaryDirectory(.memory)
    let container = directory.file("c")
    LinuxApp.setCurrent(bundleIdentifier: "org.example.stored", containerURL: URL(fileURLWithPath: container))
    defer { AppIdentity.unset() }
    try body(ContainerLayout(bundleIdentifier: "org.example.stored", containerPath: Array(container.utf8)), directory)
  }

  private static let failure = StatusRecord(
    migrationIdentifier: "1", isSuccess: false,
    error: ErrorRecord(domain: "d", code: -7, description: "why", userInfo: ["key": "value", "other": "ü"]))

  private var error: NSError? {
    guard case .failure(let error)? = MigrationStatus.importStatus else { return nil }
    return error as NSError
  }

  private var isSuccess: Bool {
    guard case .success? = MigrationStatus.importStatus else { return false }
    return true
  }

  @Test("A stored failure is an NSError with domain, code, description and strings, however often it is read")
  func storedFailure() throws {
    try asApp { layout, directory in
      #expect(MigrationStatus.importStatus == nil)
      try StatusStore.write(Self.failure, layout)
      let stored = try FileTree.read(String(decoding: layout.statusPath, as: UTF8.self))
      for _ in 0..<2 {
        let error = try #require(error)
        #expect(error.domain == "d" && error.code == -7 && error.localizedDescription == "why")
        #expect(
          error.userInfo as? [String: String] == ["key": "value", "other": "ü", NSLocalizedDescriptionKey: "why"])
      }
      #expect(try FileTree.read(String(decoding: layout.statusPath, as: UTF8.self)) == stored)
    }
  }

  @Test("Clearing forgets a failure and a success, of this app alone")
  func storedClear() throws {
    try asApp { layout, directory in
      let other = try ContainerLayout(
        bundleIdentifier: "org.example.other", containerPath: Array(directory.file("other").utf8))
      try StatusStore.write(Self.failure, other)
      for record in [Self.failure, StatusRecord(migrationIdentifier: "2", isSuccess: true)] {
        try StatusStore.write(record, layout)
        #expect(isSuccess == record.isSuccess && (error == nil) == record.isSuccess)
        MigrationStatus.clearImportStatus()
        #expect(MigrationStatus.importStatus == nil)
      }
      #expect(try StatusStore.read(other) != nil)
    }
  }

  @Test("A damaged record is a failure that says so, not the absence of one; it can be cleared")
  func storedDamage() throws {
    try asApp { layout, _ in
      try StatusStore.write(Self.failure, layout)
      try FileTree.write(Array("{".utf8), to: String(decoding: layout.statusPath, as: UTF8.self))
      #expect(error?.localizedDescription.contains("cannot be read") == true)
      MigrationStatus.clearImportStatus()
      #expect(MigrationStatus.importStatus == nil)
      // Nor is a journal that cannot be understood taken for "nothing happened".
      try FileTree.write(Array("{".utf8), to: String(decoding: layout.journalPath, as: UTF8.self))
      #expect(error?.localizedDescription.contains("is damaged") == true)
    }
  }

  @Test("A tester's status has precedence over what is stored; without an identity there is none, nor in an extension")
  func storedPrecedence() throws {
    try asApp { layout, directory in
      try StatusStore.write(Self.failure, layout)
      StatusSource.setOverride(.init(read: { .success }, clear: {}))
      #expect(isSuccess)
      MigrationStatus.clearImportStatus()
      StatusSource.setOverride(nil)
      #expect(error != nil)
      let context = ExtensionContext(
        bundleIdentifier: "org.example.stored", containerURL: URL(fileURLWithPath: directory.file("c")))
      ExtensionContext.$bound.withValue(context) {
        #expect(MigrationStatus.importStatus == nil)
        MigrationStatus.clearImportStatus()
      }
      #expect(error != nil)
      AppIdentity.unset()
      #expect(MigrationStatus.importStatus == nil)
      #expect(throws: LinuxAppError.self) { try LinuxApp.current() }
    }
  }

  @Test("An app's launch makes its container, keeps migrations out, and is told of one that is under way")
  func launches() throws {
    try asApp { layout, directory in
      let app = try LinuxApp.current()
      #expect(app.bundleIdentifier == "org.example.stored")
      #expect(app.container.containerRootDirectory.path == directory.file("c"))
      let lock = try app.launch()
      let second = try app.launch()
      for place in [app.container.documentsDirectory, app.container.applicationSupportDirectory] {
        #expect(FileManager.default.fileExists(atPath: place.path))
      }
      let stop: OrphanStopper = { _ throws(MigrationError) in throw MigrationError(.system, "nothing is to be stopped")
      }
      func migrate() throws(MigrationError) -> MigrationLock { try .acquire(layout, stoppingOrphans: stop) }
      lock.release()
      #expect(throws: MigrationError.self) { try migrate() }
      second.release()
      let migration = try migrate()
      let refused = #expect(throws: LinuxAppError.self) { try app.launch() }
      #expect(refused?.isMigrationUnderWay == true && refused?.localizedDescription.isEmpty == false)
      migration.release()
      try app.launch().release()
    }
  }

  @Test("A launch after an interrupted import finds an empty container and a failure")
  func launchesAfterInterruption() throws {
    try asApp { layout, directory in
      let app = try LinuxApp.current()
      try app.launch().release()
      try FileTree.write([1], to: directory.file("c/Documents/half"))
      try MigrationJournal(kind: .import, phase: .running).write(to: layout)
      #expect(error?.domain == StatusStore.errorDomain && error?.code == StatusStore.interruptedCode)
      #expect(FileManager.default.fileExists(atPath: directory.file("c/Documents/half")))
      try app.launch().release()
      #expect(!FileManager.default.fileExists(atPath: directory.file("c/Documents/half")))
      #expect(FileManager.default.fileExists(atPath: directory.file("c/Documents")))
      #expect(error?.code == StatusStore.interruptedCode)
    }
  }

  @Test("Groups of a program are those of its entitlements file, each once")
  func groups() throws {
    let directory = try TemporaryDirectory(.memory)
    let executable = Array(directory.file("x").utf8)
    #expect(try AppIdentity.groups(executable: executable).isEmpty)
    let list = ["group.a", "group.b", "group.a"].map { "<string>\($0)</string>" }.joined()
    let text =
      "<plist version=\"1.0\"><dict><key>com.apple.security.application-groups</key><array>\(list)</array></dict></plist>"
    try FileTree.write(Array(text.utf8), to: directory.file("x.entitlements"))
    #expect(try AppIdentity.groups(executable: executable) == ["group.a", "group.b"])
  }
}
