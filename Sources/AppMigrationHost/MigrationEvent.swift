public import MigrationWire

/// What a migration reports while it runs; on threads of the system, one at a time.
public enum MigrationEvent: Sendable {
  /// What the extension says about itself, before anything is moved.
  case described(ExtensionDescription)
  /// Bytes that were read of the items of an export, or unpacked of an archive; the total is an estimate or 0.
  case bytes(done: UInt64, total: UInt64)
  /// How far the extension says that its import has come.
  case importing(completed: Int64, total: Int64)
  /// Something that a person should know and that does not end the run.
  case warning(String)
}

/// How long the system waits for an extension.
public struct MigrationTimeouts: Sendable {
  /// No activity for so long is a hang; nil waits for ever.
  public var hang: Duration?
  /// What an extension has after a cancel.
  public var cancelGrace: Duration

  /// 30 and 5 seconds: what the command line's defaults are.
  public init(hang: Duration? = .seconds(30), cancelGrace: Duration = .seconds(5)) {
    self.hang = hang
    self.cancelGrace = cancelGrace
  }
}
