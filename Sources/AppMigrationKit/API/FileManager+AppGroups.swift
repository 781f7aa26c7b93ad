extension FileManager {
  /// The directory of an app group, if it was granted to the running extension, or belongs to the app that this process is.
  ///
  /// - Parameter groupIdentifier: one of those that the entitlements of the extension, or of the app, list.
  /// - Returns: nil for all others.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    if let context = ExtensionContext.current { return context.groups[groupIdentifier] }
    return (try? LinuxApp.current())?.groupURL(groupIdentifier)
  }
}
