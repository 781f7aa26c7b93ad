internal import ArchiveEngine
internal import ArchiveIO
internal import CMigrationShims
internal import Glibc

/// Ends the processes that hold a lock file open, and returns when they are gone.
package typealias OrphanStopper = @Sendable (_ lockPath: [UInt8]) throws(MigrationError) -> Void

/// The exclusive locks of a migration. While they are held the app cannot run and no other migration can begin.
///
/// `lock` is inherited by the extension, so that it stays locked when the system is killed and the extension lives on. Everything that changes
/// the state, also the moment in which an app takes its lock, happens under `system`; so whoever holds `system` and finds `lock` held
/// exclusively has found an orphan.
package final class MigrationLock: Sendable {
  private struct Held {
    var system: SharedDescriptor?
    var lock: SharedDescriptor?
  }

  private let held: Locked<Held>
  /// For the extension; valid until ``release()``.
  package let inheritedDescriptor: Int32
  /// What was found of an earlier run.
  package let recovered: Recovery.Outcome

  private init(_ system: SharedDescriptor, _ lock: SharedDescriptor, _ recovered: Recovery.Outcome) {
    held = Locked(Held(system: system, lock: lock))
    inheritedDescriptor = lock.rawValue
    self.recovered = recovered
  }

  deinit { release() }

  /// Takes `system`, cleans up after an interrupted run, and takes `lock`.
  package static func acquire(
    _ layout: ContainerLayout, stoppingOrphans: OrphanStopper
  ) throws(MigrationError) -> MigrationLock {
    let state = try StateDirectory.make(layout)
    let system = try SystemLock.take(
      layout, state, otherwise: "another migration of \(layout.bundleIdentifier) is under way")
    let recovered = try Recovery.recover(layout, stoppingOrphans: stoppingOrphans)
    let lock = try state.openLock(StateName.lock)
    if try !FileLock.tryLock(lock, exclusive: true) {
      // Held by apps, or, if it cannot even be shared, by an orphan that has no journal.
      if try FileLock.tryLock(lock, exclusive: false) {
        throw MigrationError(.busy, "the app \(layout.bundleIdentifier) is running; quit it and try again")
      }
      try stoppingOrphans(layout.lockPath)
      guard try FileLock.tryLock(lock, exclusive: true) else {
        throw MigrationError(
          .busy, "another process holds \(PathText.printable(layout.lockPath)) and could not be stopped")
      }
    }
    return MigrationLock(system, lock, recovered)
  }

  /// Gives the locks back; `lock` stays held as long as an extension lives.
  package func release() {
    held.withLock { held in
      // In this order: `lock` alone, without `system`, would look like an orphan's.
      held.lock = nil
      held.system = nil
    }
  }
}

/// Whole-file locks that end with the last descriptor of the open file.
enum FileLock {
  /// False while others hold a lock that excludes this one.
  static func tryLock(_ file: SharedDescriptor, exclusive: Bool) throws(MigrationError) -> Bool {
    let result = amk_flock_try(file.rawValue, exclusive ? 1 : 0)
    if result == -Int64(EWOULDBLOCK) { return false }
    if result < 0 {
      let error = SystemError("flock", errno: Int32(-result))
      throw MigrationError(.system, "the file system of the container cannot lock files: \(error.reason)")
    }
    return true
  }
}

/// The lock that all changes of the state are made under.
enum SystemLock {
  /// Takes it. An app that is starting holds it for a moment; a migration holds it for its whole run and has, but for its first moments, a
  /// journal: then there is no point in waiting.
  static func take(
    _ layout: ContainerLayout, _ state: StateDirectory, otherwise message: String
  ) throws(MigrationError) -> SharedDescriptor {
    let file = try state.openLock(StateName.system)
    for turn in 0..<100 {
      if try FileLock.tryLock(file, exclusive: true) { return file }
      // Not at once: who reads the status of an interrupted import holds it for a moment too.
      if turn >= 10, try state.holds(StateName.journal) { break }
      usleep(10_000)
    }
    if try FileLock.tryLock(file, exclusive: true) { return file }
    throw MigrationError(.busy, message)
  }
}
