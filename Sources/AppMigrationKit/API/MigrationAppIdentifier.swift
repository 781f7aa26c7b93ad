/// An app on some platform, from some store.
///
/// Its coded form is an object with the keys `storeIdentifier`, `bundleIdentifier` and `platform`, each with a string.
public struct MigrationAppIdentifier: Codable, Sendable {
  /// The store that the app came from.
  public let storeIdentifier: MigrationAppIdentifier.StoreIdentifier
  /// Bundle identifier; of an Android app the package name.
  public let bundleIdentifier: String
  /// The platform that the app ran on.
  public let platform: MigrationPlatform

  private enum CodingKeys: CodingKey {
    case storeIdentifier, bundleIdentifier, platform
  }

  /// Makes an identifier.
  public init(
    storeIdentifier: MigrationAppIdentifier.StoreIdentifier, bundleIdentifier: String, platform: MigrationPlatform
  ) {
    self.storeIdentifier = storeIdentifier
    self.bundleIdentifier = bundleIdentifier
    self.platform = platform
  }

  /// Reads a coded identifier.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    storeIdentifier = try values.decode(StoreIdentifier.self, forKey: .storeIdentifier)
    bundleIdentifier = try values.decode(String.self, forKey: .bundleIdentifier)
    platform = try values.decode(MigrationPlatform.self, forKey: .platform)
  }

  /// Writes the coded form.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(storeIdentifier, forKey: .storeIdentifier)
    try values.encode(bundleIdentifier, forKey: .bundleIdentifier)
    try values.encode(platform, forKey: .platform)
  }
}
