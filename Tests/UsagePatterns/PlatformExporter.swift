// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

extension MigrationPlatform {
  static let windows = MigrationPlatform("windows")
}

/// Exports by destination, and looks at options that it does not expect.
public struct PlatformExporter: ResourcesExporting {
  public init() {}

  public var resourcesSizeEstimate: Int { 1 }
  public var resourcesVersion: String { "1.0" }
  public var resourcesCompressible: Bool { true }

  public func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    let directory = Self.directory(for: request.destinationPlatform)
    for option in request.options where MigrationDefaultSupportedOptions.allCases.contains(option.key) {
      print(option.key.rawValue, option.value.count)
    }
    try await archiver.appendItem(at: appContainer.documentsDirectory, pathInArchive: directory)
  }

  public static func directory(for platform: MigrationPlatform) -> String {
    switch platform {
    case .android: return "app/files"
    default: return platform == MigrationPlatform("windows") ? "AppData" : "data"
    }
  }
}
