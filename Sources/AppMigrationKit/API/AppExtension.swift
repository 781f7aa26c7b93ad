/// What the system starts in a process of its own to do something for an app. On Apple's systems it is ExtensionFoundation's.
public protocol AppExtension {
  /// Type of the configuration.
  associatedtype Configuration: AppExtensionConfiguration

  /// Makes the extension; the system does so once for each run.
  @MainActor @preconcurrency init()

  /// How the extension is connected. Migration extensions get it from this module.
  @MainActor @preconcurrency var configuration: Self.Configuration { get }

  /// Serves the run for which the process was started. There is a default, so that `@main` is all that is needed.
  static func main() throws
}

extension AppExtension {
  /// Serves the run for which the system started this process, then exits; it does not return.
  ///
  /// Started by hand, it says what it is and exits with status 64.
  public static func main() throws {
    if let type = Self.self as? any AppMigrationExtension.Type { ExtensionMain.run(type) }
    ExtensionMain.explain("\(Self.self) is no migration extension; AppMigrationKit runs no others")
  }
}
