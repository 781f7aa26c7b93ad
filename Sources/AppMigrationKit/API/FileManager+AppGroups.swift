extension FileManager {
  /// The directory of an app group, if it was granted to the running extension.
  ///
  /// - Parameter groupIdentifier: one of those that the extension's entitlements list.
  /// - Returns: nil for groups that were not granted, and outside of a migration.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    ExtensionContext.current?.groups[groupIdentifier]
  }
}
