internal import AppMigrationHost

/// The containing app that this process is. An addition for Linux, where nothing else tells a program its identity and its container.
///
/// An app on Linux begins with
///
/// ```swift
/// let app = try LinuxApp.current()
/// let lock = try app.launch()        // kept as long as the app runs
/// if let status = MigrationStatus.importStatus { … }
/// ```
///
/// Its identity is, in this order: `application-identifier` in the file `EXECUTABLE.entitlements` beside the executable, the environment
/// variable `APP_BUNDLE_ID`, what ``setCurrent(bundleIdentifier:containerURL:)`` was called with.
public struct LinuxApp: Sendable {
  /// The directories of the app's data. They exist once the app was launched.
  public let container: MigrationDataContainer
  private let layout: ContainerLayout

  /// The bundle identifier.
  public var bundleIdentifier: String { container.bundleIdentifier }

  /// The app that this process is.
  ///
  /// - Throws: ``LinuxAppError`` when nothing tells it, or something does so wrongly.
  public static func current() throws(LinuxAppError) -> LinuxApp {
    do throws(MigrationError) {
      guard let identity = try AppIdentity.find() else { throw AppIdentity.missing }
      return LinuxApp(
        try ContainerLayout(bundleIdentifier: identity.bundleIdentifier, containerPath: identity.containerPath))
    } catch { throw LinuxAppError(error) }
  }

  /// Says which app this process is, where neither file nor environment do.
  ///
  /// - Parameters:
  ///   - bundleIdentifier: the app's.
  ///   - containerURL: root of the container; nil for `$APP_CONTAINERS_ROOT/BUNDLE_ID`.
  public static func setCurrent(bundleIdentifier: String, containerURL: URL? = nil) {
    AppIdentity.set(
      bundleIdentifier: bundleIdentifier, containerPath: containerURL.map { Array($0.standardizedFileURL.path.utf8) })
  }

  private init(_ layout: ContainerLayout) {
    self.layout = layout
    container = MigrationDataContainer(
      bundleIdentifier: layout.bundleIdentifier,
      containerRootDirectory: URL(
        fileURLWithPath: String(decoding: layout.containerPath, as: UTF8.self), isDirectory: true))
  }

  /// Begins the app's run: takes its launch lock, then makes what is missing of its container and app groups.
  ///
  /// A migration that was interrupted is cleaned up first, so that the app never sees half of an import.
  ///
  /// - Throws: ``LinuxAppError``; its ``LinuxAppError/isMigrationUnderWay`` says that the app has to wait.
  public func launch() throws(LinuxAppError) -> LinuxAppLaunchLock {
    do throws(MigrationError) {
      let lock = try AppLaunchLock.acquire(
        bundleIdentifier: layout.bundleIdentifier, containerPath: layout.containerPath)
      try layout.prepare(groups: try AppIdentity.groups())
      return LinuxAppLaunchLock(lock)
    } catch { throw LinuxAppError(error) }
  }

  /// The directory of one of the app's groups; nil for others.
  func groupURL(_ identifier: String) -> URL? {
    guard let groups = try? AppIdentity.groups(), groups.contains(identifier) else { return nil }
    return URL(fileURLWithPath: String(decoding: layout.groupPath(identifier), as: UTF8.self), isDirectory: true)
  }
}

/// Held by an app as long as it runs: meanwhile no migration of it can begin. An addition for Linux.
///
/// It ends with the object, with ``release()``, and with the process. Several processes of an app can hold it at once.
public final class LinuxAppLaunchLock: Sendable {
  private let lock: AppLaunchLock

  init(_ lock: AppLaunchLock) { self.lock = lock }

  /// Gives the lock back.
  public func release() { lock.release() }
}

/// Why an app cannot run now. An addition for Linux.
public struct LinuxAppError: LocalizedError, Sendable {
  /// Whether a migration of the app is under way: it can be launched when that has ended.
  public let isMigrationUnderWay: Bool
  /// What is wrong and what to do.
  public let message: String

  init(_ error: MigrationError) {
    isMigrationUnderWay = error.code == .busy
    message = error.message
  }

  /// The message.
  public var errorDescription: String? { message }
}
