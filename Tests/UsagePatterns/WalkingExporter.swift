// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// One call for each regular file of a directory, with a path relative to it.
public struct WalkingExporter: ResourcesExporting {
  public init() {}

  public let resourcesSizeEstimate = 5_000_000
  public let resourcesVersion = "2.0"
  public let resourcesCompressible = true

  public func exportResources(
    to archiver: sending ResourcesArchiver,
    request: MigrationRequestWithOptions<MigrationDefaultSupportedOptions>
  ) async throws {
    let documents = appContainer.documentsDirectory
    guard
      let enumerator = FileManager.default.enumerator(
        at: documents, includingPropertiesForKeys: [.isRegularFileKey], options: [.skipsHiddenFiles])
    else { return }
    while let url = enumerator.nextObject() as? URL {
      guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
      let relative = url.path.replacingOccurrences(of: documents.path + "/", with: "")
      try await archiver.appendItem(at: url, pathInArchive: relative)
    }
  }
}
