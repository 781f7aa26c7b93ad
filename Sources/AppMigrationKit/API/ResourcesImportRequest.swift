/// What an import gets to know about the data's origin.
public struct ResourcesImportRequest: Sendable {
  /// The app that exported the data.
  public let sourceAppIdentifier: MigrationAppIdentifier
  /// The format version that the source app stated.
  public let sourceVersion: String

  /// Makes a request; meant for tests.
  public init(sourceAppIdentifier: MigrationAppIdentifier, sourceVersion: String) {
    self.sourceAppIdentifier = sourceAppIdentifier
    self.sourceVersion = sourceVersion
  }
}
