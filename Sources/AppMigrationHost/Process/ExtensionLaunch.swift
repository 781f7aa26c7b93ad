/// What it takes to start an extension.
package struct ExtensionLaunch: Sendable {
  /// What the extension may do with the app's files.
  package enum Access: Sendable, Equatable {
    /// Read; also for a mere description.
    case export
    /// Write, and move from the staging directory.
    case `import`(stagingPath: [UInt8])
  }

  /// The extension's executable.
  package var executable: [UInt8]
  /// What it may do.
  package var access: Access
  /// The app's container.
  package var containerPath: [UInt8]
  /// The directories of the app groups that were granted.
  package var groupPaths: [[UInt8]]
  /// The migration's lock, which the extension inherits, so that it stays locked as long as an orphan lives.
  package var lockDescriptor: Int32?
  /// Whether a kernel that cannot enforce everything is an error.
  package var requiresSandbox: Bool
  /// Called when the process exists and before anything of the extension runs; what it throws ends the process instead. The start time is
  /// that of ``ExtensionProcess/startTime``.
  package var willExecute: @Sendable (_ processID: Int32, _ startTime: UInt64) throws(MigrationError) -> Void = {
    _, _ in
  }
  /// Variables that the extension gets besides the usual ones; they win over those.
  package var environment: [(name: String, value: String)]

  /// Makes a launch.
  package init(
    executable: [UInt8], access: Access, containerPath: [UInt8], groupPaths: [[UInt8]] = [],
    lockDescriptor: Int32? = nil, requiresSandbox: Bool = false, environment: [(String, String)] = []
  ) {
    self.executable = executable
    self.access = access
    self.containerPath = containerPath
    self.groupPaths = groupPaths
    self.lockDescriptor = lockDescriptor
    self.requiresSandbox = requiresSandbox
    self.environment = environment.map { (name: $0.0, value: $0.1) }
  }
}
