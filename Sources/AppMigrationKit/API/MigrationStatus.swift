/// How an import ended. The containing app reads it at its first launch.
public enum MigrationStatus {
  /// Everything was imported.
  case success
  /// The import failed, and what it had written was removed.
  case failure(any Error)

  /// How the last import ended: nil if there was none, or after ``clearImportStatus()``. May be read from any thread.
  ///
  /// A failure's error is an `NSError`, or a generic one of the domain `AppMigrationKit.ImportError` where the thrown error could
  /// not be converted. Reading changes nothing.
  public static var importStatus: MigrationStatus? { StatusSource.current.read() }

  /// Forgets how the last import ended, be it a success or a failure.
  public static func clearImportStatus() { StatusSource.current.clear() }
}
