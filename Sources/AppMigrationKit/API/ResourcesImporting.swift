/// An extension that takes an app's data over from another platform.
public protocol ResourcesImporting: AppMigrationExtension {
  /// Moves what lies below `url` to where the app will look for it.
  ///
  /// The container is empty before. When an error is thrown the container is emptied again, app groups are not, and the app
  /// learns of the error through ``MigrationStatus/importStatus``.
  @concurrent
  func importResources(at url: URL, request: ResourcesImportRequest) async throws

  /// How far the import has come. Read anew ten times a second while it runs, from another thread: it may be another object each time.
  var resourcesImportProgress: Progress { get }
}
