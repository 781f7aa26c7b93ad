internal import MigrationWire

/// What the disk says about an app's last migration.
package enum MigrationState {
  /// The stored result, unless a run has begun since: while it lasts there is none, and when its system was ended in the middle of it, it has failed.
  /// Changes nothing.
  package static func status(_ layout: ContainerLayout) throws(MigrationError) -> StatusRecord? {
    let stored = try StatusStore.read(layout)
    guard let journal = try MigrationJournal.read(layout), journal.kind == .import else { return stored }
    if let stored, stored.migrationIdentifier == journal.identifier { return stored }
    guard let state = try StateDirectory.open(layout) else { return stored }
    // Held by a run that goes on; looking takes it for a moment, as an app that starts does.
    let system = try state.openLock(StateName.system)
    guard try FileLock.tryLock(system, exclusive: false) else { return nil }
    return StatusRecord(
      migrationIdentifier: journal.identifier, isSuccess: false, error: Recovery.interruption, isInterrupted: true)
  }
}
