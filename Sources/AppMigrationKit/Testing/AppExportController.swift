internal import AppMigrationHost
internal import ArchiveIO
internal import MigrationWire

extension AppMigrationTester {
  /// Lets the extension export.
  public final class AppExportController: Sendable {
    private let workspace: TesterWorkspace

    init(_ workspace: TesterWorkspace) { self.workspace = workspace }

    /// Lets the extension export what is in the container, and unpacks what it gave.
    ///
    /// - Parameters:
    ///   - request: nil is one for the tester's platform without options.
    ///   - progress: is driven to its total, by the bytes that were read against the extension's estimate.
    /// - Throws: the extension's own error, an `NSError` if it ran in a process of its own; ``AppMigrationTesterError`` for all else.
    public final func exportResources<SupportedOptions>(
      request: MigrationRequestWithOptions<SupportedOptions>? = nil, progress: Progress? = nil
    ) async throws -> ResourcesExportResult
    where
      SupportedOptions: CaseIterable, SupportedOptions: Hashable, SupportedOptions: RawRepresentable,
      SupportedOptions: Sendable, SupportedOptions.RawValue == String
    {
      let values = request?.options.map { MigrationTask.Option(key: $0.key.rawValue, value: Array($0.value)) } ?? []
      return try await export(
        to: request?.destinationPlatform ?? workspace.platform, values.sorted { $0.key < $1.key }, progress)
    }

    /// The same for extensions without options.
    public final func exportResources(
      request: MigrationRequest? = nil, progress: Progress? = nil
    ) async throws -> ResourcesExportResult {
      try await export(to: request?.destinationPlatform ?? workspace.platform, [], progress)
    }

    private func export(
      to platform: MigrationPlatform, _ values: [MigrationTask.Option], _ progress: Progress?
    ) async throws -> ResourcesExportResult {
      let archive = workspace.freshURL("export").appendingPathExtension("tar.zst")
      let (place, thrown) = workspace.place()
      var options = ExportOptions(place, output: .file(Array(archive.path.utf8)))
      options.platform = platform.rawValue
      options.options = values
      switch workspace.faults.withLock({ $0 }) {
      case .hang(let item): options.faults.hangItem = item
      case .cancel(let item): options.faults.cancelItem = item
      case .diskFull(let byteCount): options.faults.freeByteCount = UInt64(max(0, byteCount))
      case .corruptedArchive, nil: break
      }
      let driven = DrivenProgress(progress)
      let export = options
      let summary = try await workspace.run(thrown: thrown) { token throws(MigrationError) in
        try MigrationSystem.export(export, cancellation: token) { event in
          if case .bytes(let done, let total) = event { driven.update(done, of: total) }
        }
      }
      let directory = workspace.freshURL("resources")
      let (from, to) = (Array(archive.path.utf8), Array(directory.path.utf8))
      try await workspace.run(thrown: { nil }) { _ throws(MigrationError) in
        try ArchiveDirectory.unpack(from, to: to)
      }
      driven.finish()
      let properties = DeviceToDeviceExportProperties(
        uncompressedBytes: Int(clamping: summary.uncompressedByteCount),
        compressedBytes: summary.compressedByteCount.map { Int(clamping: $0) },
        sizeEstimate: Int(clamping: summary.description.sizeEstimate), version: summary.description.version)
      return ResourcesExportResult(
        extractedResourcesURL: URL(fileURLWithPath: directory.path, isDirectory: true), exportProperties: properties,
        workspace: workspace)
    }
  }

  /// What an export gave.
  public struct ResourcesExportResult: Sendable {
    /// A directory with the exported resources, unpacked. It may be changed, and is removed when the tester and this value are gone.
    public let extractedResourcesURL: URL
    /// Sizes and version.
    public let exportProperties: DeviceToDeviceExportProperties
    /// Keeps the directory.
    private let workspace: TesterWorkspace

    init(
      extractedResourcesURL: URL, exportProperties: DeviceToDeviceExportProperties, workspace: TesterWorkspace
    ) {
      self.extractedResourcesURL = extractedResourcesURL
      self.exportProperties = exportProperties
      self.workspace = workspace
    }
  }

  /// Sizes and version of an export.
  public struct DeviceToDeviceExportProperties: Sendable {
    /// Bytes of the exported files.
    public let uncompressedBytes: Int
    /// Bytes of the archive; nil when the extension is not compressible.
    public let compressedBytes: Int?
    /// What the extension's `resourcesSizeEstimate` gave.
    public let sizeEstimate: Int
    /// What the extension's `resourcesVersion` gave.
    public let version: String
  }
}
