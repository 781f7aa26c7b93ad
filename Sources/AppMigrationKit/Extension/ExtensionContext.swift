internal import ArchiveIO

/// What was granted to an extension for one run.
///
/// A tester that runs several extensions in one process binds one for each run's tasks; in an extension's own process ``setDefault(_:)`` is what
/// also Dispatch queues and detached tasks see.
package struct ExtensionContext: Sendable {
  /// Bound by a tester for the tasks of one run.
  @TaskLocal package static var bound: ExtensionContext?

  private static let processDefault = Locked<ExtensionContext?>(nil)

  /// The containing app's container.
  package var container: MigrationDataContainer
  /// Directories of the app groups that were granted, by identifier.
  package var groups: [String: URL]

  /// Makes a context.
  package init(bundleIdentifier: String, containerURL: URL, groups: [String: URL] = [:]) {
    container = MigrationDataContainer(bundleIdentifier: bundleIdentifier, containerRootDirectory: containerURL)
    self.groups = groups
  }

  /// What counts here.
  package static var current: ExtensionContext? { bound ?? processDefault.withLock { $0 } }

  /// Sets what counts where nothing is bound.
  package static func setDefault(_ context: ExtensionContext?) { processDefault.withLock { $0 = context } }
}
