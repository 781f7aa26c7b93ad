internal import AppMigrationHost
internal import ArchiveIO

/// What testers run: an extension that is part of the test, or the executable of one.
enum TesterTarget: Sendable {
  case type(any AppMigrationExtension.Type, bundleIdentifier: String, groups: [String])
  case executable([UInt8])

  private static let registered = Locked<TesterTarget?>(nil)
  /// Names an executable where nothing is registered.
  static let variable = "APP_MIGRATION_EXTENSION"

  static func register(_ target: TesterTarget) { registered.withLock { $0 = target } }

  /// What a new tester runs.
  static func current() throws -> TesterTarget {
    if let target = registered.withLock({ $0 }) { return target }
    if let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty { return .executable(Array(path.utf8)) }
    throw AppMigrationTesterError(
      .noExtension,
      "there is no extension to test: call AppMigrationTester.register(MyExtension.self) before a tester is made, or set \(variable) to a built one"
    )
  }
}
