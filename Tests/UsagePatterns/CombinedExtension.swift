// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// Both sides on one type, the container's default, a stored progress, an initialiser that the compiler makes.
public struct CombinedExtension: ResourcesExporting, ResourcesImporting {
  public let resourcesImportProgress = Progress(totalUnitCount: 1)

  public init() {}

  public var resourcesSizeEstimate: Int { 1000 }
  public var resourcesVersion: String { "1.0" }
  public var resourcesCompressible: Bool { true }

  public func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    try await archiver.appendItem(at: appContainer.documentsDirectory)
  }

  public func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    try FileManager.default.moveItem(
      at: url.appendingPathComponent("Documents"), to: appContainer.documentsDirectory)
    resourcesImportProgress.completedUnitCount = 1
  }
}
