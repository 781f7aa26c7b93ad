public import MigrationWire

/// The one error of the system's side. Its ``description`` says what happened and, where there is something, what to do next.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is. An open set: more may come.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let value: String

    /// The entitlements file is missing or does not hold.
    public static let entitlement = Code(value: "entitlement")
    /// The container cannot be used.
    public static let container = Code(value: "container")
    /// Another migration or the app itself is using the container.
    public static let busy = Code(value: "busy")
    /// The sandbox cannot be set up as required.
    public static let sandbox = Code(value: "sandbox")
    /// The extension cannot be started.
    public static let launch = Code(value: "launch")
    /// The extension sent something that no extension sends.
    public static let protocolViolation = Code(value: "protocolViolation")
    /// The extension was ended by a signal or exited before it was done.
    public static let crashed = Code(value: "crashed")
    /// The extension made no progress for too long and was ended.
    public static let hang = Code(value: "hang")
    /// The migration was cancelled.
    public static let cancelled = Code(value: "cancelled")
    /// The extension threw an error.
    public static let extensionFailed = Code(value: "extensionFailed")
    /// The archive cannot be written or read, or holds what may not arrive.
    public static let archive = Code(value: "archive")
    /// There is not enough free space.
    public static let noSpace = Code(value: "noSpace")
    /// The call itself is wrong.
    public static let invalidArgument = Code(value: "invalidArgument")
    /// The operating system refused a call.
    public static let system = Code(value: "system")

    /// The name, for logs and JSON.
    public var description: String { value }
  }

  /// The kind of failure.
  public var code: Code
  /// A sentence that says what happened.
  public var message: String
  /// The error that the extension threw.
  public var extensionError: ErrorRecord?

  /// Makes an error.
  public init(_ code: Code, _ message: String, extensionError: ErrorRecord? = nil) {
    self.code = code
    self.message = message
    self.extensionError = extensionError
  }

  /// The message.
  public var description: String { message }
}
