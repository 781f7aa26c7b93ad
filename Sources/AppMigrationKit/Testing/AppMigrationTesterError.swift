internal import AppMigrationHost

/// What keeps a test from running, or ended it, other than the extension's own error. A Linux addition.
public struct AppMigrationTesterError: LocalizedError, CustomNSError, Sendable {
  /// What kind of failure it is. An open set: more may come.
  public struct Code: Sendable, Hashable {
    let value: Int

    /// Nothing is registered, or it does not do what is tested.
    public static let noExtension = Code(value: 1)
    /// The extension did nothing for too long.
    public static let hang = Code(value: 2)
    /// The migration was cancelled by a simulated fault.
    public static let cancelled = Code(value: 3)
    /// There is not enough space.
    public static let noSpace = Code(value: 4)
    /// The archive cannot be read, or holds what may not arrive.
    public static let archive = Code(value: 5)
    /// The extension's process was ended or does not keep to the protocol.
    public static let crashed = Code(value: 6)
    /// Anything else.
    public static let other = Code(value: 7)
  }

  /// The kind of failure.
  public let code: Code
  /// A sentence that says what happened.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ error: MigrationError) {
    let code: Code =
      switch error.code {
      case .hang: .hang
      case .cancelled: .cancelled
      case .noSpace: .noSpace
      case .archive: .archive
      case .crashed, .protocolViolation: .crashed
      default: .other
      }
    self.init(code, error.message)
  }

  /// The message.
  public var errorDescription: String? { message }
  /// The domain as an `NSError`.
  public static var errorDomain: String { "AppMigrationKit.AppMigrationTester" }
  /// The code as an `NSError`.
  public var errorCode: Int { code.value }
  /// The message, which `localizedDescription` takes from here.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}
