internal import ArchiveIO

/// Where ``MigrationStatus`` comes from: what the system has stored for this app; a tester's override takes precedence.
package enum StatusSource {
  /// Reads and clears a status. `read` makes the value anew each time, since a status is not Sendable.
  package struct Access: Sendable {
    package var read: @Sendable () -> MigrationStatus?
    package var clear: @Sendable () -> Void

    package init(read: @escaping @Sendable () -> MigrationStatus?, clear: @escaping @Sendable () -> Void) {
      self.read = read
      self.clear = clear
    }

    /// Nothing is stored.
    package static let nothing = Access(read: { nil }, clear: {})
  }

  private struct State {
    var stored = Access.system
    var override: Access?
  }

  private static let state = Locked(State())

  /// Sets where statuses are stored.
  package static func setStore(_ access: Access) { state.withLock { $0.stored = access } }

  /// Sets what takes precedence over the store, or removes it.
  package static func setOverride(_ access: Access?) { state.withLock { $0.override = access } }

  /// What counts now.
  package static var current: Access { state.withLock { $0.override ?? $0.stored } }
}
