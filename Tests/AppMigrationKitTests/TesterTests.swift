import AppMigrationKit
import ArchiveIO
import TestSupport
import Testing

/// The extension that testers run here: documents out and back in, with faults that files of certain names ask for.
struct TestedExtension: ResourcesExporting, ResourcesImporting {
  struct Fault: LocalizedError, Equatable {
    var reason: String
    var errorDescription: String? { reason }
  }

  let resourcesImportProgress = Progress(totalUnitCount: 7)
  var resourcesVersion: String { "2.0" }
  var resourcesCompressible: Bool {
    !FileManager.default.fileExists(atPath: appContainer.documentsDirectory.appendingPathComponent("photos-only").path)
  }

  var resourcesSizeEstimate: Int { get async { 1000 } }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    let documents = appContainer.documentsDirectory
    for name in try FileManager.default.contentsOfDirectory(atPath: documents.path).sorted() {
      try await archiver.appendItem(at: documents.appendingPathComponent(name))
    }
    let platform = appContainer.applicationSupportDirectory.appendingPathComponent("platform")
    try Data(request.destinationPlatform.rawValue.utf8).write(to: platform)
    try await archiver.appendItem(at: platform)
  }

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    let start = try FileManager.default.contentsOfDirectory(atPath: appContainer.documentsDirectory.path)
    guard start.isEmpty else { throw Fault(reason: "the container holds \(start)") }
    if request.sourceVersion == "bad" { throw Fault(reason: "unknown version") }
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      try FileManager.default.moveItem(
        at: url.appendingPathComponent(name), to: appContainer.documentsDirectory.appendingPathComponent(name))
    }
    let about = [
      request.sourceVersion, request.sourceAppIdentifier.platform.rawValue,
      request.sourceAppIdentifier.storeIdentifier.rawValue,
    ]
    try Data(about.joined(separator: " ").utf8).write(
      to: appContainer.applicationSupportDirectory.appendingPathComponent("about"))
    resourcesImportProgress.completedUnitCount = 7
  }
}

@Suite(.serialized) struct TesterTests {
  init() { AppMigrationTester.register(TestedExtension.self) }

  private func tester(_ files: [String: String]) async throws -> AppMigrationTester {
    let tester = try await AppMigrationTester(platform: .android)
    for (name, text) in files {
      let url = tester.appContainer.documentsDirectory.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    return tester
  }

  private func text(_ url: URL, _ name: String) -> String? {
    try? String(contentsOf: url.appendingPathComponent(name), encoding: .utf8)
  }

  @Test func aRoundTripBringsEverythingBack() async throws {
    let tester = try await tester(["a.txt": "one", "folder/b": "two"])
    let exported = Progress(totalUnitCount: 50)
    let result = try await tester.exportController.exportResources(request: nil, progress: exported)
    #expect(exported.completedUnitCount == 50)
    #expect(text(result.extractedResourcesURL, "a.txt") == "one")
    #expect(text(result.extractedResourcesURL, "folder/b") == "two")
    #expect(text(result.extractedResourcesURL, "platform") == "android")
    let properties = result.exportProperties
    #expect(properties.uncompressedBytes == 3 + 3 + 7)
    #expect(properties.version == "2.0" && properties.sizeEstimate == 1000)
    #expect(try #require(properties.compressedBytes) > 0)

    let imported = Progress(totalUnitCount: 100)
    try await tester.importController.importResources(
      from: result.extractedResourcesURL, importRequest: nil, progress: imported)
    #expect(imported.completedUnitCount == 100)
    #expect(text(tester.appContainer.documentsDirectory, "folder/b") == "two")
    #expect(text(tester.appContainer.applicationSupportDirectory, "about") == "2.0 android com.android.vending")
    // What the test has given is still the test's.
    #expect(text(result.extractedResourcesURL, "a.txt") == "one")
  }

  @Test func dataThatAreNotCompressibleAreStored() async throws {
    let tester = try await tester(["photos-only": String(repeating: "x", count: 100_000)])
    let result = try await tester.exportController.exportResources()
    #expect(result.exportProperties.compressedBytes == nil)
    #expect(result.exportProperties.uncompressedBytes == 100_007)
  }

  @Test func theExtensionsOwnErrorComesOutAndTheContainerComesBack() async throws {
    let tester = try await tester(["kept": "still here"])
    let source = try await tester.exportController.exportResources()
    let request = ResourcesImportRequest(
      sourceAppIdentifier: MigrationAppIdentifier(
        storeIdentifier: .googlePlay, bundleIdentifier: "com.example", platform: .android), sourceVersion: "bad")
    let error = await #expect(throws: TestedExtension.Fault.self) {
      try await tester.importController.importResources(from: source.extractedResourcesURL, importRequest: request)
    }
    #expect(error == TestedExtension.Fault(reason: "unknown version"))
    #expect(text(tester.appContainer.documentsDirectory, "kept") == "still here")
  }

  @Test func simulatedFaultsReachTheTest() async throws {
    let tester = try await tester(["a": "1", "b": "2", "c": String(repeating: "z", count: 500_000)])
    for (fault, code): (AppMigrationTester.SimulatedFault, AppMigrationTesterError.Code) in [
      (.hang(atItem: 2), .hang), (.cancel(atItem: 1), .cancelled), (.diskFull(afterByteCount: 100), .noSpace),
    ] {
      await tester.simulate(fault)
      let error = await #expect(throws: AppMigrationTesterError.self) {
        try await tester.exportController.exportResources()
      }
      #expect(error?.code == code, "\(fault)")
    }
    await tester.simulate(nil)
    let result = try await tester.exportController.exportResources()
    await tester.simulate(.corruptedArchive)
    let error = await #expect(throws: AppMigrationTesterError.self) {
      try await tester.importController.importResources(from: result.extractedResourcesURL)
    }
    #expect(error?.code == .archive)
    #expect(text(tester.appContainer.applicationSupportDirectory, "about") == nil)
  }

  @Test func testersWorkAtOnceEachInItsOwnContainer() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          let tester = try await tester(["number": "\(number)"])
          let result = try await tester.exportController.exportResources()
          #expect(text(result.extractedResourcesURL, "number") == "\(number)")
          try await tester.importController.importResources(from: result.extractedResourcesURL)
          #expect(text(tester.appContainer.documentsDirectory, "number") == "\(number)")
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func aCompletionIsWhatTheAppReads() async throws {
    let tester = try await tester([:])
    try await tester.importController.registerImportCompletion(with: .success)
    guard case .success = MigrationStatus.importStatus else { return #expect(Bool(false)) }
    MigrationStatus.clearImportStatus()
    #expect(MigrationStatus.importStatus == nil)
    try await tester.importController.registerImportCompletion(with: .failure(TestedExtension.Fault(reason: "why")))
    guard case .failure(let error) = MigrationStatus.importStatus else { return #expect(Bool(false)) }
    #expect(error.localizedDescription == "why")
    MigrationStatus.clearImportStatus()
    #expect(MigrationStatus.importStatus == nil)
    StatusSource.setOverride(nil)
  }

  @Test func whatDoesNotImportSaysSo() async throws {
    AppMigrationTester.register(ScriptedExporter.self)
    let tester = try await AppMigrationTester(platform: .android)
    await #expect(throws: AppMigrationTesterError.self) { try await tester.importController }
    _ = try await tester.exportController
  }

  @Test(.disabled(if: Sanitizer.isOn, "in its sandbox a sanitizer cannot end well"))
  func aBuiltExtensionRunsInAProcessOfItsOwn() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("built-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let executable = directory.appendingPathComponent("Sample")
    try FileManager.default.copyItem(
      at: URL(fileURLWithPath: Shell.builtProduct("SampleExtension")), to: executable)
    let entitlements = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
      <key>com.apple.developer.app-migration.data-container-access</key><array><string>org.example.built</string></array>
      </dict></plist>
      """
    try Data(entitlements.utf8).write(to: directory.appendingPathComponent("Sample.entitlements"))
    AppMigrationTester.register(executable: executable)
    let tester = try await tester(["deep/er": "text"])
    #expect(tester.appContainer.bundleIdentifier == "org.example.built")
    let result = try await tester.exportController.exportResources(request: nil, progress: nil)
    #expect(text(result.extractedResourcesURL, "deep/er") == "text")
    let request = ResourcesImportRequest(
      sourceAppIdentifier: MigrationAppIdentifier(
        storeIdentifier: .googlePlay, bundleIdentifier: "com.example", platform: .android), sourceVersion: "9.9")
    do {
      try await tester.importController.importResources(from: result.extractedResourcesURL, importRequest: request)
      #expect(Bool(false), "the import succeeded")
    } catch {
      #expect((error as NSError).domain == "SampleExtension.SampleExtension.Fault")
    }
    try await tester.importController.importResources(from: result.extractedResourcesURL)
    #expect(text(tester.appContainer.documentsDirectory, "deep/er") == "text")
  }
}
