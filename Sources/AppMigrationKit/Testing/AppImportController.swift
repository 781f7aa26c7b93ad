internal import AppMigrationHost
internal import ArchiveIO
internal import MigrationWire

extension AppMigrationTester {
  /// Lets the extension import.
  public final class AppImportController: Sendable {
    private let workspace: TesterWorkspace

    init(_ workspace: TesterWorkspace) { self.workspace = workspace }

    /// Lets the extension import what lies in a directory, which itself is not touched.
    ///
    /// The extension starts with an empty container; when it fails the container is again what it was.
    ///
    /// - Parameters:
    ///   - extractedResourceURL: a directory, such as that of an export's result.
    ///   - importRequest: nil is one from an app with the same bundle identifier on the tester's platform, whose store is Google Play if that is
    ///     Android, with the version that the extension itself would export, or "1.0" if it does not export.
    ///   - progress: is driven to its total, by the extension's own progress.
    /// - Throws: the extension's own error, an `NSError` if it ran in a process of its own; ``AppMigrationTesterError`` for all else.
    public final func importResources(
      from extractedResourceURL: URL, importRequest: ResourcesImportRequest? = nil, progress: Progress? = nil
    ) async throws {
      let request = try await completed(importRequest)
      let archive = workspace.freshURL("import").appendingPathExtension("tar.zst")
      let manifest = MigrationManifest(
        version: request.version, source: request.source, destinationPlatform: "linux", sizeEstimate: 0,
        isCompressible: true)
      let isCorrupted = workspace.faults.withLock { $0 } == .corruptedArchive
      let (from, to) = (Array(extractedResourceURL.path.utf8), Array(archive.path.utf8))
      let (place, thrown) = workspace.place()
      let driven = DrivenProgress(progress)
      _ = try await workspace.run(thrown: thrown) { token throws(MigrationError) in
        try ArchiveDirectory.pack(from, to: to, manifest: manifest)
        if isCorrupted { try Corruption.changeOneByte(of: to) }
        var options = ImportOptions(place, input: .file(to))
        options.replaces = true
        return try MigrationSystem.importArchive(options, cancellation: token) { event in
          if case .importing(let completed, let total) = event {
            driven.update(UInt64(max(0, completed)), of: UInt64(max(0, total)))
          }
        }
      }
      driven.finish()
    }

    /// Lets ``MigrationStatus/importStatus`` answer as after an import with this end, until ``MigrationStatus/clearImportStatus()``. There is one
    /// status for the whole process. An error comes out as an `NSError`, as it does after a real import.
    public final func registerImportCompletion(with status: MigrationStatus) async throws {
      let record: ErrorRecord?
      switch status {
      case .success: record = nil
      case .failure(let error): record = ErrorRecord(converting: error)
      }
      let isCleared = Locked(false)
      StatusSource.setOverride(
        StatusSource.Access(
          read: {
            if isCleared.withLock({ $0 }) { return nil }
            return record.map { .failure($0.nsError) } ?? .success
          }, clear: { isCleared.withLock { $0 = true } }))
    }

    private func completed(_ request: ResourcesImportRequest?) async throws -> (version: String, source: SourceApp) {
      if let request {
        let app = request.sourceAppIdentifier
        return (
          request.sourceVersion,
          SourceApp(
            storeIdentifier: app.storeIdentifier.rawValue, bundleIdentifier: app.bundleIdentifier,
            platform: app.platform.rawValue)
        )
      }
      let (place, thrown) = workspace.place()
      let description = try await workspace.run(thrown: thrown) { token throws(MigrationError) in
        try MigrationSystem.describe(place, cancellation: token)
      }
      let store: MigrationAppIdentifier.StoreIdentifier? = workspace.platform == .android ? .googlePlay : nil
      return (
        description.exports ? description.version : "1.0",
        SourceApp(
          storeIdentifier: store?.rawValue ?? "", bundleIdentifier: workspace.container.bundleIdentifier,
          platform: workspace.platform.rawValue)
      )
    }
  }
}

/// A fault of a disk.
private enum Corruption {
  /// Changes the byte in the middle of a file.
  static func changeOneByte(of path: [UInt8]) throws(MigrationError) {
    let name = String(decoding: path, as: UTF8.self)
    do {
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: name))
      defer { try? file.close() }
      let middle = try file.seekToEnd() / 2
      try file.seek(toOffset: middle)
      let byte = try file.read(upToCount: 1)?.first ?? 0
      try file.seek(toOffset: middle)
      try file.write(contentsOf: Data([byte ^ 0x40]))
    } catch { throw MigrationError(.system, "\(name): \(error)") }
  }
}
