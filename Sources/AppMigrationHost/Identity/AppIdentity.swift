internal import ArchiveEngine
internal import ArchiveIO
internal import Foundation

/// Which app this process is. In this order:
///
/// 1. the file `EXECUTABLE.entitlements` beside the executable: the string of `application-identifier` (less the prefix that
///    `com.apple.developer.team-identifier` names), else the one element of `com.apple.developer.app-migration.data-container-access`;
/// 2. the environment variable `APP_BUNDLE_ID`;
/// 3. what ``set(bundleIdentifier:containerPath:)`` was called with.
public enum AppIdentity {
  /// An app and, where it is not the usual one, its container.
  public struct Value: Sendable, Equatable {
    /// The app.
    public var bundleIdentifier: String
    /// Root of the container; nil for the usual place.
    public var containerPath: [UInt8]?

    /// Makes an identity.
    public init(bundleIdentifier: String, containerPath: [UInt8]? = nil) {
      self.bundleIdentifier = bundleIdentifier
      self.containerPath = containerPath
    }
  }

  private static let identifierKey = "application-identifier"
  private static let teamKey = "com.apple.developer.team-identifier"
  private static let chosen = Locked<Value?>(nil)

  /// The identity; nil if there is none or what should tell it is wrong (then ``find()`` says what).
  public static var current: Value? { try? find() }

  /// The identity; nil if nothing tells it. Throws where something does, but wrongly.
  public static func find() throws(MigrationError) -> Value? {
    let executable = try? FileSystem.readLink(at: FileSystem.currentDirectory, Array("/proc/self/exe".utf8))
    return try find(executable: executable, environment: ProcessInfo.processInfo.environment)
  }

  /// Says who this app is, where neither file nor environment do. The container's path holds only for this very bundle identifier.
  public static func set(bundleIdentifier: String, containerPath: [UInt8]? = nil) {
    chosen.withLock { $0 = Value(bundleIdentifier: bundleIdentifier, containerPath: containerPath) }
  }

  /// Takes back what was set, for tests.
  package static func unset() { chosen.withLock { $0 = nil } }

  package static func find(
    executable: [UInt8]?, environment: [String: String]
  ) throws(MigrationError) -> Value? {
    let chosen = Self.chosen.withLock { $0 }
    var identifier = chosen?.bundleIdentifier
    var place = "AppIdentity.set(bundleIdentifier:containerPath:)"
    if let text = environment["APP_BUNDLE_ID"], !text.isEmpty { (identifier, place) = (text, "APP_BUNDLE_ID") }
    if let executable, let file = try PropertyListFile(path: executable + Array(".entitlements".utf8)),
      let text = try Self.identifier(in: file)
    {
      (identifier, place) = (text, file.shownPath)
    }
    guard let identifier else { return nil }
    guard BundleIdentifier.isPlausible(identifier) else {
      let shown = PathText.printable(Array(identifier.utf8.prefix(200)))
      throw MigrationError(.entitlement, "\(place): \"\(shown)\" is no bundle identifier (\(BundleIdentifier.rule))")
    }
    let isChosen = identifier == chosen?.bundleIdentifier
    return Value(bundleIdentifier: identifier, containerPath: isChosen ? chosen?.containerPath : nil)
  }

  private static func identifier(in file: PropertyListFile) throws(MigrationError) -> String? {
    switch file.value(identifierKey) {
    case .string(let text):
      if case .string(let team) = file.value(teamKey), text.hasPrefix("\(team).") {
        return String(text.dropFirst(team.count + 1))
      }
      return text
    case .missing: break
    case .strings, .other:
      throw MigrationError(.entitlement, "in \(file.shownPath) the value of \(identifierKey) is not a string")
    }
    switch file.value(Entitlements.containerKey) {
    case .missing: return nil
    case .strings(let texts) where texts.count == 1: return texts[0]
    case .string, .strings, .other:
      throw MigrationError(
        .entitlement,
        "in \(file.shownPath) the value of \(Entitlements.containerKey) is not an array of exactly one string")
    }
  }
}
