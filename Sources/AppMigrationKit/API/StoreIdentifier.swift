extension MigrationAppIdentifier {
  /// An app store. An open set: stores without a constant are made from their raw value, which is compared as it is.
  ///
  /// Coded as one string.
  public struct StoreIdentifier: RawRepresentable, Hashable, Codable, Sendable {
    /// Type of the raw value.
    public typealias RawValue = String
    /// On Android the package name of the store's app.
    public let rawValue: String

    /// Google Play: `com.android.vending`, the name by which Android itself knows the store.
    public static let googlePlay = MigrationAppIdentifier.StoreIdentifier("com.android.vending")

    /// Makes a store.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    /// Makes a store.
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}
