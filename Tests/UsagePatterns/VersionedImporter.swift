// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// Errors of an import, as apps define them.
public enum ImportFailure: Error {
  case unsupportedVersion(String)
  case untrustedSource
}

/// Chooses by version and source, and empties app groups before it writes to them.
public struct VersionedImporter: ResourcesImporting {
  public var resourcesImportProgress: Progress { Progress(totalUnitCount: 10) }

  public init() {}

  public func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    let source = request.sourceAppIdentifier
    guard source.platform == .android, source.storeIdentifier == .googlePlay,
      source.bundleIdentifier == "com.example.app"
    else { throw ImportFailure.untrustedSource }
    try emptyGroups()
    switch request.sourceVersion {
    case "1.0": try move("notes", from: url)
    case "2.0", "2.1": try move("documents", from: url)
    default: throw ImportFailure.unsupportedVersion(request.sourceVersion)
    }
  }

  private func emptyGroups() throws {
    guard
      let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.com.example.app")
    else { return }
    for item in try FileManager.default.contentsOfDirectory(at: group, includingPropertiesForKeys: nil) {
      try FileManager.default.removeItem(at: item)
    }
  }

  private func move(_ name: String, from url: URL) throws {
    let place = appContainer.documentsDirectory.appendingPathComponent(name)
    try FileManager.default.moveItem(at: url.appendingPathComponent(name), to: place)
  }
}
