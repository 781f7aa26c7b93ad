// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// Keys of a destination's options.
public enum ExportOption: String, CaseIterable, Sendable {
  case quality
  case accounts
}

/// An exporter that understands options. On the main actor, as some apps keep theirs.
public struct OptionsExporter: ResourcesExportingWithOptions {
  public typealias OptionsType = ExportOption

  public init() {}

  public var resourcesSizeEstimate: Int { get async { 0 } }
  public var resourcesVersion: String { "options" }
  public var resourcesCompressible: Bool { false }

  @MainActor
  public func exportResources(
    to archiver: sending ResourcesArchiver, request: MigrationRequestWithOptions<ExportOption>
  ) async throws {
    for (key, value) in request.options.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try value.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      try await archiver.appendItem(at: file, pathInArchive: key.rawValue)
    }
  }
}
