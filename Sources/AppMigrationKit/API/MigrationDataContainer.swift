/// The directories of the containing app's data.
public struct MigrationDataContainer: Sendable {
  /// Bundle identifier of the containing app.
  public let bundleIdentifier: String
  /// Root of its container.
  public let containerRootDirectory: URL
  /// Documents.
  public var documentsDirectory: URL
  /// Application Support.
  public var applicationSupportDirectory: URL

  /// Makes a container; nothing is created.
  package init(bundleIdentifier: String, containerRootDirectory root: URL) {
    self.bundleIdentifier = bundleIdentifier
    containerRootDirectory = root
    documentsDirectory = root.appendingPathComponent("Documents", isDirectory: true)
    applicationSupportDirectory = root.appendingPathComponent("Library", isDirectory: true)
      .appendingPathComponent("Application Support", isDirectory: true)
  }
}
