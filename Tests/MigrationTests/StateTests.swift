import AppMigrationHost
import ArchiveIO
import Foundation
import MigrationWire
import TestSupport
import Testing

@Suite struct StateTests {
  @Test func journalsComeBackAndGo() throws {
    let place = try Place()
    #expect(try MigrationJournal.read(place.layout) == nil)
    #expect(try place.listing().isEmpty)
    var journal = MigrationJournal(kind: .import)
    #expect(journal.identifier != MigrationJournal(kind: .import).identifier)
    for phase in [MigrationJournal.Phase.unpacking, .replacing, .running, .finishing] {
      journal.phase = phase
      journal.hasPrevious.toggle()
      (journal.processID, journal.startTime) = (7, .max)
      try journal.write(to: place.layout)
      #expect(try MigrationJournal.read(place.layout) == journal)
    }
    #expect(try FileSystem.status(at: FileSystem.currentDirectory, place.layout.statePath).mode == 0o700)
    #expect(try FileSystem.status(at: FileSystem.currentDirectory, place.layout.journalPath).mode == 0o600)
    try MigrationJournal.remove(place.layout)
    try MigrationJournal.remove(place.layout)
    #expect(try place.listing() == [".c.migration/"])
  }

  @Test func aDamagedJournalDestroysNothing() throws {
    let place = try Place()
    try place.layout.prepare()
    try put("1", at: place.directory.root.rawValue, "c/f")
    try MigrationJournal(kind: .import, phase: .running).write(to: place.layout)
    try FileTree.write(Array("{".utf8), to: place.directory.file(".c.migration/journal"))
    let before = try place.listing()
    let text = message(.container) { _ = try Recovery.recover(place.layout, stoppingOrphans: noOrphans) }
    #expect(text?.contains("journal is damaged") == true)
    #expect(try place.listing() == before)
  }

  @Test func resultsStayUntilTheyAreCleared() throws {
    let place = try Place()
    #expect(try StatusStore.read(place.layout) == nil)
    try StatusStore.clear(place.layout)
    #expect(try place.listing().isEmpty)
    let error = ErrorRecord(domain: "d", code: -3, description: "ä\0\n", userInfo: ["k": "v"])
    let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    for record in [
      StatusRecord(migrationIdentifier: "1", isSuccess: true, date: date),
      StatusRecord(migrationIdentifier: "2", isSuccess: false, error: error, isInterrupted: true, date: date),
    ] {
      try StatusStore.write(record, place.layout)
      let before = try place.listing()
      #expect(try StatusStore.read(place.layout) == record)
      #expect(try StatusStore.read(place.layout) == record)
      #expect(try place.listing() == before)
    }
    try StatusStore.clear(place.layout)
    #expect(try StatusStore.read(place.layout) == nil)
    #expect(try place.listing() == [".c.migration/"])
  }

  @Test func aDamagedResultIsAFailureThatSaysSo() throws {
    let place = try Place()
    try StatusStore.write(StatusRecord(migrationIdentifier: "1", isSuccess: true), place.layout)
    let path = place.directory.file(".c.migration/status")
    for bytes in [[], Array("{\"record\":1}".utf8), [0xFF], [UInt8](repeating: 0x20, count: (4 << 20) + 1)] {
      try FileTree.write(bytes, to: path)
      let record = try #require(try StatusStore.read(place.layout))
      #expect(!record.isSuccess && record.error?.code == StatusStore.damagedCode)
      #expect(record.error?.domain == StatusStore.errorDomain)
    }
    try Shell.script("rm '\(path)'; mkfifo '\(path)'")
    #expect(try StatusStore.read(place.layout)?.error?.code == StatusStore.damagedCode)
    try StatusStore.clear(place.layout)
    #expect(try StatusStore.read(place.layout) == nil)
  }

  @Test func aStateDirectoryThatIsNotOursIsRefused() throws {
    let place = try Place()
    let root = place.directory.root.rawValue
    try makeDirectory(at: root, "other")
    try FileSystem.makeSymlink(to: Array("other".utf8), at: root, Array(".c.migration".utf8))
    #expect(
      message(.container) { try MigrationJournal(kind: .export).write(to: place.layout) }?.contains("symlink") == true)
    #expect(try place.listing().count == 2)
  }

  @Test(
    "What root keeps for a user's container belongs to the user",
    .enabled(if: ProcessFacts.effectiveUserID == 0, "needs root"))
  func ownerOfState() throws {
    let place = try Place()
    let (root, here) = (place.directory.root.rawValue, FileSystem.currentDirectory)
    try makeDirectory(at: root, "c")
    try FileSystem.setOwner(at: root, [0x63], userID: Shell.plainUser, groupID: Shell.plainUser)
    try StatusStore.write(StatusRecord(migrationIdentifier: "1", isSuccess: true), place.layout)
    let lock = try MigrationLock.acquire(place.layout, stoppingOrphans: noOrphans)
    for path in [place.layout.statePath, place.layout.statusPath, place.layout.lockPath, place.layout.systemLockPath] {
      #expect(try FileSystem.status(at: here, path).userID == Shell.plainUser)
    }
    lock.release()
    try place.layout.prepare()
    #expect(try FileSystem.status(at: here, place.layout.applicationSupportPath).userID == Shell.plainUser)
    // A directory of somebody who has nothing to do with it.
    try FileSystem.setOwner(at: root, Array(".c.migration".utf8), userID: 12345, groupID: 12345)
    #expect(message(.container) { _ = try StatusStore.read(place.layout) }?.contains("another user") == true)
  }
}
