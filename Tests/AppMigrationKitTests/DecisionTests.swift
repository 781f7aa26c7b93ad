import AppMigrationHost
import ArchiveEngine
import ArchiveIO
import MigrationWire
import TestSupport
import Testing

@testable import AppMigrationKit

/// Answers to what the documentation of Apple's framework leaves open, as far as no other suite shows them. They are part of the suite of the
/// tester because that, too, registers extensions for the whole process.
extension TesterTests {
  private func exporting(_ work: @escaping ScriptedExporter.Work) async throws -> AppMigrationTester {
    AppMigrationTester.register(ScriptedExporter.self)
    let tester = try await AppMigrationTester(platform: .android)
    ScriptedExporter.setScript(tester.appContainer.containerRootDirectory.path, work)
    return tester
  }

  private func importing(
    _ files: [String], _ work: @escaping ScriptedImporter.Work
  ) async throws -> (tester: AppMigrationTester, resources: URL) {
    AppMigrationTester.register(ScriptedImporter.self)
    let tester = try await AppMigrationTester(platform: .android)
    ScriptedImporter.setScript(tester.appContainer.containerRootDirectory.path, work)
    let resources = beside(tester, "resources")
    try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
    for name in files { try Data(name.utf8).write(to: resources.appendingPathComponent(name)) }
    return (tester, resources)
  }

  /// A place that goes with the tester.
  private func beside(_ tester: AppMigrationTester, _ name: String) -> URL {
    tester.appContainer.containerRootDirectory.deletingLastPathComponent().appendingPathComponent(name)
  }

  private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  /// Metadata and kinds of items, after an export.
  @Test func exportedItemsKeepModesTimesAndAttributesAndLoseSetIDBits() async throws {
    let tester = try await exporting { exporter, archiver in
      try await archiver.appendItem(at: exporter.appContainer.documentsDirectory, pathInArchive: "all/")
      try await archiver.appendItem(at: exporter.appContainer.documentsDirectory.appendingPathComponent("empty"))
    }
    let documents = tester.appContainer.documentsDirectory
    try Shell.script(
      """
      mkdir -p package.bundle/deep; printf 1 > package.bundle/deep/file; ln -s package.bundle link; : > empty
      chmod 4750 package.bundle/deep/file; touch -d @1000000000.5 package.bundle/deep/file empty; chmod 640 empty
      """, directory: documents.path)
    let file = try FileSystem.open(
      at: FileSystem.currentDirectory, Array(documents.appendingPathComponent("empty").path.utf8), .readOnly)
    let name = Array("user.x".utf8)
    var hasAttributes = true
    do throws(SystemError) { try FileSystem.setAttribute(of: file.rawValue, name, value: [1]) } catch {
      guard error.isNotSupported else { throw error }
      hasAttributes = false
    }
    let result = try await tester.exportController.exportResources()
    let found = try Shell.script(
      "stat -c '%n %F %a %.1Y' all/package.bundle/deep/file all/empty empty; readlink all/link",
      directory: result.extractedResourcesURL.path)
    #expect(
      found == """
        all/package.bundle/deep/file regular file 750 1000000000.5
        all/empty regular empty file 640 1000000000.5
        empty regular empty file 640 1000000000.5
        package.bundle

        """)
    let copy = try FileSystem.open(
      at: FileSystem.currentDirectory, Array(result.extractedResourcesURL.appendingPathComponent("empty").path.utf8),
      .readOnly)
    let names = try FileSystem.attributeNames(of: copy.rawValue)
    #expect(!hasAttributes || names.contains(name))
  }

  /// What is captured when the call returns, and going on after a call that threw.
  @Test func anItemIsCapturedOnReturnAndAFailedOneDoesNotEndTheExport() async throws {
    let tester = try await exporting { exporter, archiver in
      let documents = exporter.appContainer.documentsDirectory
      for name in ["small", "large"] {
        let url = documents.appendingPathComponent(name)
        try await archiver.appendItem(at: url)
        try Data("changed".utf8).write(to: url)
        try FileManager.default.removeItem(at: url)
      }
      await #expect(throws: ResourcesArchiverError.self) {
        try await archiver.appendItem(at: documents.appendingPathComponent("small"), pathInArchive: "again")
      }
      try await archiver.appendItem(at: documents.appendingPathComponent("other"), pathInArchive: "again")
    }
    for (name, count) in [("small", 10), ("large", 300_000), ("other", 1)] {
      try Data(repeating: 0x61, count: count).write(
        to: tester.appContainer.documentsDirectory.appendingPathComponent(name))
    }
    let result = try await tester.exportController.exportResources()
    for (name, count) in [("small", 10), ("large", 300_000), ("again", 1)] {
      let bytes = try Data(contentsOf: result.extractedResourcesURL.appendingPathComponent(name))
      #expect(bytes == Data(repeating: 0x61, count: count), "\(name)")
    }
  }

  /// The estimate is for progress and free space alone.
  @Test(arguments: [0, -5, 1, 1 << 30])
  func anEstimateMayBeWrong(estimate: Int) async throws {
    AppMigrationTester.register(CountingExtension.self)
    let tester = try await AppMigrationTester(platform: .android)
    CountingExtension.begin(tester, estimate: estimate)
    let result = try await tester.exportController.exportResources()
    #expect(result.exportProperties.sizeEstimate == estimate)
    #expect(result.exportProperties.uncompressedBytes == 5000)
  }

  @Test func anEstimateThatDoesNotFitEndsTheExportBeforeItBegins() async throws {
    AppMigrationTester.register(CountingExtension.self)
    let tester = try await AppMigrationTester(platform: .android)
    CountingExtension.begin(tester, estimate: .max)
    let error = await #expect(throws: AppMigrationTesterError.self) {
      try await tester.exportController.exportResources()
    }
    #expect(error?.code == .noSpace)
    #expect(CountingExtension.log(tester) == ["init", "estimate", "version", "compressible"])
  }

  /// Compression.
  @Test func whatShrinksIsCompressedAndTheRestStored() async throws {
    #expect(WriterOptions().level == 3)
    var random = SplitMix64(seed: 14)
    for (shrinks, bytes) in [
      (true, Data(repeating: 0x61, count: 1 << 20)),
      (false, Data((0..<1 << 20).map { _ in UInt8(truncatingIfNeeded: random.next()) })),
    ] {
      AppMigrationTester.register(TestedExtension.self)
      let tester = try await AppMigrationTester(platform: .android)
      try bytes.write(to: tester.appContainer.documentsDirectory.appendingPathComponent("data"))
      let properties = try await tester.exportController.exportResources().exportProperties
      let count = try #require(properties.compressedBytes)
      #expect(shrinks ? count < 100_000 : count < properties.uncompressedBytes + 10_000, "\(count)")
    }
  }

  @Test(arguments: [0, 1, 1024, 1025])
  func aVersionHasUpTo1024Bytes(count: Int) async throws {
    AppMigrationTester.register(CountingExtension.self)
    let tester = try await AppMigrationTester(platform: .android)
    CountingExtension.begin(tester, estimate: 1, version: String(repeating: "v", count: count))
    if count > 1024 {
      let error = await #expect(throws: (any Error).self) { try await tester.exportController.exportResources() }
      #expect(error?.localizedDescription.contains("1024 bytes") == true)
    } else {
      let result = try await tester.exportController.exportResources()
      #expect(result.exportProperties.version.utf8.count == count)
    }
  }

  @Test func eachRunHasOneNewInstanceThatIsAskedOnceBefore() async throws {
    AppMigrationTester.register(CountingExtension.self)
    let tester = try await AppMigrationTester(platform: .android)
    CountingExtension.begin(tester, estimate: 1)
    let controller = try await tester.exportController
    _ = try await controller.exportResources()
    let once = ["init", "estimate", "version", "compressible", "export"]
    #expect(CountingExtension.log(tester) == once)
    let result = try await controller.exportResources()
    #expect(CountingExtension.log(tester) == once + once)
    let request = ResourcesImportRequest(
      sourceAppIdentifier: MigrationAppIdentifier(
        storeIdentifier: .googlePlay, bundleIdentifier: "com.example", platform: .android), sourceVersion: "1.0")
    CountingExtension.begin(tester, estimate: 1)
    let importer = try await tester.importController
    for _ in 0..<2 {
      try await importer.importResources(from: result.extractedResourcesURL, importRequest: request)
    }
    #expect(CountingExtension.log(tester) == ["init", "import", "init", "import"])
  }

  /// The staging directory.
  @Test func theResourcesLieBesideTheContainerAndGoAfterTheImport() async throws {
    let seen = Locked<URL?>(nil)
    let (tester, resources) = try await importing(["moved", "left"]) { importer, url, request in
      #expect(request.sourceVersion == "1.0")
      seen.withLock { $0 = url }
      let source = url.appendingPathComponent("moved")
      let target = importer.appContainer.documentsDirectory.appendingPathComponent("moved")
      let inode = try Shell.script("stat -c %i \(source.path)")
      try FileManager.default.moveItem(at: source, to: target)
      // A rename, no copy.
      #expect(try Shell.script("stat -c %i \(target.path)") == inode)
      try Data().write(to: url.appendingPathComponent("new"))
    }
    try await tester.importController.importResources(from: resources)
    #expect(exists(tester.appContainer.documentsDirectory.appendingPathComponent("moved")))
    let staging = try #require(seen.withLock { $0 })
    #expect(!exists(staging))
    #expect(exists(resources.appendingPathComponent("left")))
  }

  @Test func aFailedImportOnlyThrowsAndIsNotTriedAgain() async throws {
    let count = Locked(0)
    let (tester, resources) = try await importing(["file"]) { importer, _, _ in
      count.withLock { $0 += 1 }
      try Data().write(to: importer.appContainer.containerRootDirectory.appendingPathComponent("Library/half"))
      throw TestedExtension.Fault(reason: "on purpose")
    }
    let kept = tester.appContainer.applicationSupportDirectory.appendingPathComponent("kept")
    try Data().write(to: kept)
    let error = await #expect(throws: TestedExtension.Fault.self) {
      try await tester.importController.importResources(from: resources)
    }
    #expect(error?.reason == "on purpose")
    #expect(count.withLock { $0 } == 1)
    #expect(exists(kept))
    #expect(!exists(tester.appContainer.containerRootDirectory.appendingPathComponent("Library/half")))
    #expect(MigrationStatus.importStatus == nil)
  }

  /// Directories of a container.
  @Test func theTesterMakesTheDirectoriesAndTheContainerTypeDoesNot() async throws {
    let (tester, _) = try await importing([]) { _, _, _ in }
    #expect(exists(tester.appContainer.documentsDirectory))
    #expect(exists(tester.appContainer.applicationSupportDirectory))
    let root = beside(tester, "never made")
    var container = MigrationDataContainer(bundleIdentifier: "org.example", containerRootDirectory: root)
    #expect(container.documentsDirectory.path == root.path + "/Documents")
    #expect(container.applicationSupportDirectory.path == root.path + "/Library/Application Support")
    container.documentsDirectory = root
    #expect(container.documentsDirectory == root && !exists(root))
  }

  @Test func whatWasExportedStaysUntilTesterAndResultAreGone() async throws {
    var tester: AppMigrationTester? = try await exporting { _, _ in }
    var result = try await tester?.exportController.exportResources()
    let url = try #require(result?.extractedResourcesURL)
    tester = nil
    #expect(result != nil && exists(url))
    result = nil
    // The thread of the last run may let go a little later.
    let end = ContinuousClock.now + .seconds(10)
    while exists(url), ContinuousClock.now < end { await Task.yield() }
    #expect(tester == nil && !exists(url))
  }

  @Test func anExtensionThatIsNotThereIsAnErrorOfTheTester() async throws {
    AppMigrationTester.register(executable: URL(fileURLWithPath: "/nowhere/extension"))
    let error = await #expect(throws: AppMigrationTesterError.self) { try await AppMigrationTester(platform: .android) }
    #expect(error?.code == .noExtension)
    let text = try #require(error).localizedDescription
    #expect(text.contains("/nowhere/extension"))
  }

  @Test func theContainerOutsideOfARunStopsTheProgram() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = await ScriptedExporter().appContainer
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("only while the system or a tester runs the extension"))
  }
}

/// Writes down what is done with it, by container.
struct CountingExtension: ResourcesExporting, ResourcesImporting {
  private struct Plan {
    var estimate: Int
    var version: String
    var log: [String] = []
  }

  private static let plans = Locked<[String: Plan]>([:])

  static func begin(_ tester: AppMigrationTester, estimate: Int, version: String = "1.0") {
    plans.withLock {
      $0[tester.appContainer.containerRootDirectory.path] = Plan(estimate: estimate, version: version)
    }
  }

  static func log(_ tester: AppMigrationTester) -> [String] {
    plans.withLock { $0[tester.appContainer.containerRootDirectory.path]?.log ?? [] }
  }

  init() { note("init") }

  @discardableResult
  private func note(_ what: String) -> (estimate: Int, version: String) {
    let path = appContainer.containerRootDirectory.path
    return Self.plans.withLock { plans in
      plans[path]?.log.append(what)
      return (plans[path]?.estimate ?? 0, plans[path]?.version ?? "")
    }
  }

  let resourcesImportProgress = Progress(totalUnitCount: 1)
  var resourcesSizeEstimate: Int { get async { note("estimate").estimate } }
  var resourcesVersion: String { note("version").version }
  var resourcesCompressible: Bool { note("compressible").estimate >= .min }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    note("export")
    let file = appContainer.documentsDirectory.appendingPathComponent("file")
    try Data(repeating: 1, count: 5000).write(to: file)
    try await archiver.appendItem(at: file)
  }
  func importResources(at url: URL, request: ResourcesImportRequest) async throws { note("import") }
}
