// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// Requests as tests of extensions write them.
public enum Requests {
  public static let export = MigrationRequestWithOptions<MigrationDefaultSupportedOptions>(
    destinationPlatform: .android, options: [:])
  public static let short = MigrationRequest(destinationPlatform: .android)
  public static let source = MigrationAppIdentifier(
    storeIdentifier: .googlePlay, bundleIdentifier: "com.example.app", platform: .android)
  public static let `import` = ResourcesImportRequest(sourceAppIdentifier: source, sourceVersion: "2.0")
}
