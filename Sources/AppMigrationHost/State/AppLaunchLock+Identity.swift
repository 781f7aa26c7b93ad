extension AppLaunchLock {
  /// Takes the lock of an app. What an interrupted migration has left is cleaned up first: its extension is stopped, an interrupted import has failed.
  ///
  /// Throws ``MigrationError/Code/busy`` while a migration is under way.
  public static func acquire(
    bundleIdentifier: String, containerPath: [UInt8]? = nil
  ) throws(MigrationError) -> AppLaunchLock {
    try acquire(
      ContainerLayout(bundleIdentifier: bundleIdentifier, containerPath: containerPath),
      stoppingOrphans: ExtensionApp.stopOrphans)
  }

  /// Takes the lock of the app that this process is, see ``AppIdentity``.
  public static func acquire() throws(MigrationError) -> AppLaunchLock {
    guard let identity = try AppIdentity.find() else { throw AppIdentity.missing }
    return try acquire(bundleIdentifier: identity.bundleIdentifier, containerPath: identity.containerPath)
  }
}

extension AppIdentity {
  /// What is wrong where nothing tells the identity.
  package static var missing: MigrationError {
    MigrationError(
      .invalidArgument,
      """
      this program does not say which app it is. Put EXECUTABLE.entitlements with application-identifier beside the executable, or set \
      APP_BUNDLE_ID, or say it by a call.
      """)
  }
}
