package import MigrationWire

/// What the system knows of an extension that runs: a process of its own, or, in a tester, tasks of this one. Any thread may use it.
package protocol ExtensionEndpoint: AnyObject, Sendable {
  /// The socket to it.
  var socket: MessageSocket { get }
  /// What is enforced.
  var sandbox: SandboxReport { get }
  /// Waits until it has ended, and with it all that it has started.
  func waitForExit() -> ExtensionProcess.Exit
  /// The same for at most some milliseconds; nil when it is still running.
  func tryExit(milliseconds: Int32) -> ExtensionProcess.Exit?
  /// Ends it and all that it has started.
  func kill()
  /// The processor time that it has taken; nil when that is not known.
  func processorTime() -> Duration?
}

extension ExtensionProcess: ExtensionEndpoint {}

/// An extension that is no executable but part of this program, for tests.
package struct EmbeddedExtension: Sendable {
  /// The app that it belongs to.
  package var bundleIdentifier: String
  /// App groups that it is granted.
  package var groups: [String]
  /// Starts it.
  package var start: @Sendable () throws(MigrationError) -> any ExtensionEndpoint

  /// Describes an extension.
  package init(
    bundleIdentifier: String, groups: [String] = [],
    start: @escaping @Sendable () throws(MigrationError) -> any ExtensionEndpoint
  ) {
    self.bundleIdentifier = bundleIdentifier
    self.groups = groups
    self.start = start
  }
}

/// Where an extension and the app's data are found.
package struct ExtensionPlace: Sendable {
  /// Its executable; entitlements lie beside it.
  package var executable: [UInt8] = []
  /// In place of an executable.
  package var embedded: EmbeddedExtension?
  /// Another container than the usual one of the app.
  package var containerPath: [UInt8]?
  /// Another directory for app groups than the usual one.
  package var groupsRoot: String?

  /// Makes a place.
  package init(executable: [UInt8] = [], containerPath: [UInt8]? = nil) {
    self.executable = executable
    self.containerPath = containerPath
  }
}
