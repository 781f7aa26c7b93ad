/// The options of exports that have none: there are no values of this type.
public enum MigrationDefaultSupportedOptions: CaseIterable, Equatable, Hashable, RawRepresentable, Sendable {
  /// Type of all cases.
  public typealias AllCases = [MigrationDefaultSupportedOptions]
  /// Type of a key.
  public typealias RawValue = String

  /// Empty.
  public static let allCases: [MigrationDefaultSupportedOptions] = []

  /// Always gives nil.
  public init?(rawValue: String) { nil }

  /// The key.
  public var rawValue: String {
    switch self {}
  }
}
