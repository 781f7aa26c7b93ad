/// An operating system that data come from or go to. An open set: platforms without a constant are made from their raw value,
/// which is compared as it is.
///
/// Coded as one string.
public struct MigrationPlatform: RawRepresentable, Hashable, Codable, Sendable {
  /// Type of the raw value.
  public typealias RawValue = String
  /// The name, in lower case by custom.
  public let rawValue: String

  /// Android: `android`.
  public static let android = MigrationPlatform("android")

  /// Makes a platform.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a platform.
  public init(rawValue: String) { self.rawValue = rawValue }
}
