/// What export and import extensions have in common. An extension conforms to at least one of ``ResourcesExporting``,
/// ``ResourcesExportingWithOptions`` and ``ResourcesImporting``.
public protocol AppMigrationExtension: AppExtension, Sendable {
  /// The containing app's data. A default is given, which needs the entitlement
  /// `com.apple.developer.app-migration.data-container-access`; the system starts no extension without it.
  var appContainer: MigrationDataContainer { get }
}

extension AppMigrationExtension {
  /// The container that the system granted for this run.
  ///
  /// Asked for outside of a run it stops the program: there is no container that could be meant.
  public var appContainer: MigrationDataContainer {
    guard let context = ExtensionContext.current else {
      preconditionFailure("appContainer is there only while the system or a tester runs the extension")
    }
    return context.container
  }

  /// The configuration of migration extensions.
  @MainActor public var configuration: some AppExtensionConfiguration { MigrationConfiguration() }
}

/// There is nothing to configure.
struct MigrationConfiguration: AppExtensionConfiguration {}
