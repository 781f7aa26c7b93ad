import AppMigrationHost
import ArchiveIO
import Glibc
import TestSupport
import Testing

@Suite struct StateLockTests {
  @Test func aMigrationExcludesAppsAndOtherMigrations() throws {
    let place = try Place()
    let lock = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans)
    try MigrationJournal(kind: .export).write(to: place.layout)
    #expect(
      message(.busy) { _ = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans) }?
        .contains("another migration") == true)
    #expect(
      message(.busy) { _ = try AppLaunchLock.acquire(place.layout, stoppingOrphans: noOrphans) }?
        .contains("is under way") == true)
    // The same before there is a journal.
    try MigrationJournal.remove(place.layout)
    #expect(message(.busy) { _ = try AppLaunchLock.acquire(place.layout, stoppingOrphans: noOrphans) } != nil)
    lock.release()
    lock.release()
    _ = try AppLaunchLock.acquire(place.layout, stoppingOrphans: noOrphans)
    _ = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans)
  }

  @Test func runningAppsExcludeMigrationsAndNotEachOther() throws {
    let place = try Place()
    let first = try AppLaunchLock.acquire(place.layout, stoppingOrphans: noOrphans)
    let second = try AppLaunchLock.acquire(place.layout, stoppingOrphans: noOrphans)
    first.release()
    #expect(
      message(.busy) { _ = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans) }?
        .contains("is running") == true)
    second.release()
    #expect(try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans).recovered == .nothing)
  }

  /// Stands for an extension: a second descriptor of the open lock file, as a child inherits it.
  private final class Orphan: Sendable {
    private let descriptor: Locked<SharedDescriptor?>
    let stops = Locked(0)
    init(_ lock: MigrationLock) throws {
      descriptor = Locked(SharedDescriptor(try Descriptor.duplicate(of: lock.inheritedDescriptor)))
    }
    func stop() {
      stops.withLock { $0 += 1 }
      descriptor.withLock { $0 = nil }
    }
  }

  @Test("An orphan keeps the lock and is stopped before anything else", arguments: [true, false], [true, false])
  func orphan(_ isApp: Bool, _ hasJournal: Bool) throws {
    let place = try Place()
    try place.layout.prepare()
    let lock = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans)
    let orphan = try Orphan(lock)
    if hasJournal { try MigrationJournal(kind: .import, phase: .running).write(to: place.layout) }
    try put("half", at: place.directory.root.rawValue, "c/f")
    lock.release()
    let (layout, root) = (place.layout, place.directory.root)
    let stopper: OrphanStopper = { (path) throws(MigrationError) in
      #expect(path == layout.lockPath)
      #expect((try? FileSystem.status(at: root.rawValue, Array("c/f".utf8))) != nil)
      orphan.stop()
    }
    let expected: Recovery.Outcome = hasJournal ? .interruptedImport : .nothing
    if isApp {
      #expect(try AppLaunchLock.acquire(layout, stoppingOrphans: stopper).recovered == expected)
    } else {
      #expect(try MigrationLock.acquire(layout, stoppingOrphans: stopper).recovered == expected)
    }
    #expect(orphan.stops.withLock { $0 } == 1)
    #expect(try ContainerReplacement.isEmpty(layout) == hasJournal)
    #expect(try StatusStore.read(layout)?.isInterrupted == (hasJournal ? true : nil))
  }

  @Test func anOrphanThatCannotBeStoppedKeepsTheAppOut() throws {
    let place = try Place()
    let lock = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans)
    let orphan = try Orphan(lock)
    defer { orphan.stop() }
    lock.release()
    let nothing: OrphanStopper = { (_) throws(MigrationError) in }
    #expect(message(.busy) { _ = try AppLaunchLock.acquire(place.layout, stoppingOrphans: nothing) } != nil)
    #expect(message(.busy) { _ = try MigrationLock.acquire(place.layout, stoppingOrphans: nothing) } != nil)
  }

  @Test func whatAKilledSystemHasLeftIsCleanedUp() async throws {
    let place = try Place()
    try place.layout.prepare()
    let path = place.directory.file("c")
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let layout = try ContainerLayout(
        bundleIdentifier: "org.example.notes", containerPath: Array(path.utf8), environment: ["HOME": "/"])
      let lock = try MigrationLock.acquire(layout, stoppingOrphans: noOrphans)
      try withExtendedLifetime(lock) {
        var transaction = try ImportTransaction(layout, replacing: false)
        _ = try transaction.makeStaging()
        try transaction.didUnpack()
        try transaction.willRun()(1, 1)
        try FileTree.write([1], to: path + "/half")
        kill(getpid(), SIGKILL)
      }
    }
    let nothing: OrphanStopper = { (_) throws(MigrationError) in }
    let lock = try AppLaunchLock.acquire(place.layout, stoppingOrphans: nothing)
    #expect(lock.recovered == .interruptedImport)
    #expect(try StatusStore.read(place.layout)?.error == Recovery.interruption)
    #expect(try place.listing().filter { $0.hasPrefix("c/") } == ["c/"])
  }

  @Test("What was stored counts, whatever else is left", arguments: [true, false])
  func storedResults(_ isSuccess: Bool) throws {
    let place = try Place()
    try place.layout.prepare()
    try put("old", at: place.directory.root.rawValue, "c/f")
    try ContainerReplacement.moveAside(place.layout)
    try put("new", at: place.directory.root.rawValue, "c/f")
    let journal = MigrationJournal(kind: .import, phase: .running, hasPrevious: true)
    try journal.write(to: place.layout)
    try StatusStore.write(
      StatusRecord(migrationIdentifier: journal.identifier, isSuccess: isSuccess), place.layout)
    let nothing: OrphanStopper = { (_) throws(MigrationError) in }
    let outcome = try Recovery.recover(place.layout, stoppingOrphans: nothing)
    #expect(outcome == .finishedImport(isSuccess: isSuccess))
    #expect(try place.listing().contains("c/f=\(isSuccess ? "new" : "old")"))
    #expect(try StatusStore.read(place.layout)?.isInterrupted == false)
    // One of an older migration says nothing about this one.
    try MigrationJournal(kind: .import, phase: .running).write(to: place.layout)
    #expect(try Recovery.recover(place.layout, stoppingOrphans: nothing) == .interruptedImport)
    #expect(try StatusStore.read(place.layout)?.isInterrupted == true)
  }

  @Test func aFinishingImportKeepsItsContainerAlthoughNoResultIsLeft() throws {
    let place = try Place()
    try place.layout.prepare()
    try put("new", at: place.directory.root.rawValue, "c/f")
    try MigrationJournal(kind: .import, phase: .finishing).write(to: place.layout)
    let nothing: OrphanStopper = { (_) throws(MigrationError) in }
    guard case .finishedImport = try Recovery.recover(place.layout, stoppingOrphans: nothing) else {
      Issue.record("not finished")
      return
    }
    #expect(try place.listing().contains("c/f=new"))
    #expect(try StatusStore.read(place.layout) == nil && MigrationJournal.read(place.layout) == nil)
  }
}
