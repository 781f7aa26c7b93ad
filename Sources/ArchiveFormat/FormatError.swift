/// Why bytes could not be read or written as a format says. Pure: it knows offsets, not files.
public struct FormatError: Error, Sendable, Equatable {
  /// The kinds of fault that callers treat differently.
  public enum Code: Sendable, Equatable {
    /// The bytes break a rule of their format.
    case malformed
    /// A stated limit would be exceeded.
    case limitExceeded
    /// The bytes end too early.
    case truncated
    /// A known format or version that is not read here.
    case unsupported
    /// Two statements about the same thing differ (index and tar header, hash and bytes).
    case mismatch
  }

  /// What kind of fault it is.
  public var code: Code
  /// Byte offset in the stream that was parsed (what stream it is, the caller knows); nil when there is none.
  public var offset: UInt64?
  /// A sentence without the offset and without a path.
  public var message: String

  /// Makes a value from its parts.
  public init(_ code: Code, _ message: String, offset: UInt64? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
  }
}
