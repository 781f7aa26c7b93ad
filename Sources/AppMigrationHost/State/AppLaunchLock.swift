internal import ArchiveIO

/// The lock that an app holds as long as it runs: while it does no migration can begin, and while one is under way the app learns of it.
///
/// Keep the object for the life of the process. Several processes of the app can hold it at once.
public final class AppLaunchLock: Sendable {
  private let held: Locked<SharedDescriptor?>
  /// What was found of an interrupted migration and cleaned up.
  package let recovered: Recovery.Outcome

  private init(_ lock: SharedDescriptor, _ recovered: Recovery.Outcome) {
    held = Locked(lock)
    self.recovered = recovered
  }

  /// Takes the lock. What an interrupted migration has left is cleaned up first: its extension is stopped, an interrupted import has failed.
  ///
  /// Throws ``MigrationError/Code/busy`` while a migration is under way.
  package static func acquire(
    _ layout: ContainerLayout, stoppingOrphans: OrphanStopper
  ) throws(MigrationError) -> AppLaunchLock {
    let message = "a migration of \(layout.bundleIdentifier) is under way; the app cannot run before it has ended"
    let state = try StateDirectory.make(layout)
    let system = try SystemLock.take(layout, state, otherwise: message)
    defer { withExtendedLifetime(system) {} }
    let recovered = try Recovery.recover(layout, stoppingOrphans: stoppingOrphans)
    let lock = try state.openLock(StateName.lock)
    if try !FileLock.tryLock(lock, exclusive: false) {
      // Held exclusively although no system is there: an orphan without a journal.
      try stoppingOrphans(layout.lockPath)
      guard try FileLock.tryLock(lock, exclusive: false) else { throw MigrationError(.busy, message) }
    }
    return AppLaunchLock(lock, recovered)
  }

  /// Gives the lock back before the object goes.
  public func release() { held.withLock { $0 = nil } }
}
