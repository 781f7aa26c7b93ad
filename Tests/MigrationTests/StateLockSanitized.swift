import AppMigrationHost
import ArchiveIO
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StateLockSanitized {
  private struct Holders {
    var apps = 0
    var migrations = 0
    var appTurns = 0
    var migrationTurns = 0
    var faults: [String] = []

    mutating func check() {
      if migrations > 1 || (migrations > 0 && apps > 0) { faults.append("\(migrations) migrations, \(apps) apps") }
    }
  }

  @Test("Apps and migrations that start at the same time never run at the same time")
  func contention() throws {
    let place = try Place()
    let holders = Locked(Holders())
    let layout = place.layout
    DispatchQueue.concurrentPerform(iterations: 120) { turn in
      do {
        if turn % 3 == 0 {
          let lock = try MigrationLock.acquire(layout, stoppingOrphans: noOrphans)
          holders.withLock { holders in
            holders.migrations += 1
            holders.migrationTurns += 1
            holders.check()
          }
          try MigrationJournal(kind: .export).write(to: layout)
          try MigrationJournal.remove(layout)
          holders.withLock { $0.migrations -= 1 }
          lock.release()
        } else {
          let lock = try AppLaunchLock.acquire(layout, stoppingOrphans: noOrphans)
          holders.withLock { holders in
            holders.apps += 1
            holders.appTurns += 1
            holders.check()
          }
          holders.withLock { $0.apps -= 1 }
          lock.release()
        }
      } catch let error as MigrationError {
        if error.code != .busy { holders.withLock { $0.faults.append(error.message) } }
      } catch { holders.withLock { $0.faults.append("\(error)") } }
    }
    let result = holders.withLock { $0 }
    #expect(result.faults.isEmpty && result.appTurns > 0 && result.migrationTurns > 0, "\(result)")
  }
}
