internal import ArchiveIO
internal import CMigrationShims
internal import Glibc

/// Ends extensions whose system is gone.
package enum OrphanHunter {
  /// How often everything is looked through: an orphan can fork while it is searched for.
  private static let turns = 64

  /// Kills every process of this user, except this one, that holds the file locked exclusively, and waits until it is gone.
  ///
  /// Those that merely have it open, to look at the lock or to wait for it, are left alone: another app's start may be one.
  ///
  /// - Returns: how many there were.
  package static func stopHolders(ofLockFile path: [UInt8]) throws(MigrationError) -> Int {
    let lock: FileStatus
    do throws(SystemError) {
      lock = try FileSystem.status(at: FileSystem.currentDirectory, path)
    } catch {
      if error.isNotFound { return 0 }
      throw MigrationError(.system, "the lock of the container cannot be looked at: \(error.message)")
    }
    var count = 0
    for _ in 0..<turns {
      let stopped = try stopOnce(lock)
      if stopped == 0 { return count }
      count += stopped
    }
    throw MigrationError(
      .busy, "processes of an interrupted migration keep starting others; end them before another migration")
  }

  private static func stopOnce(_ lock: FileStatus) throws(MigrationError) -> Int {
    var count = 0
    for process in ProcessFiles.all() where process != ProcessFacts.processID {
      let result = amk_process_open(process)
      if result < 0 { continue }
      let handle = Descriptor(adopting: Int32(result))
      // What is found now belongs to the process behind the handle, unless that has ended meanwhile.
      guard let directory = ProcessFiles.directory(of: process),
        let owner = try? FileSystem.status(of: directory.rawValue), owner.userID == ProcessFacts.effectiveUserID,
        holds(lock, directory), amk_poll(handle.rawValue, 0, -1, 0) == 0
      else { continue }
      let killed = amk_process_kill(handle.rawValue)
      if killed < 0, killed != -Int64(ESRCH) {
        throw MigrationError(
          .busy, "process \(process) of an interrupted migration cannot be ended; end it before another migration")
      }
      if amk_poll(handle.rawValue, 0, -1, 10_000) == 0 {
        throw MigrationError(
          .busy, "process \(process) of an interrupted migration was killed and does not end; it waits for a disk")
      }
      count += 1
    }
    return count
  }

  private static func holds(_ lock: FileStatus, _ process: SharedDescriptor) -> Bool {
    ProcessFiles.numbers(at: process.rawValue, "fd").contains { number in
      guard let status = try? FileSystem.statusFollowing(at: process.rawValue, Array("fd/\(number)".utf8)),
        status.isSameFile(as: lock), let facts = ProcessFiles.text(at: process.rawValue, "fdinfo/\(number)")
      else { return false }
      return isExclusive(facts)
    }
  }

  /// Whether what the kernel tells of a descriptor has an exclusive `flock` in it:
  /// `lock:	1: FLOCK  ADVISORY  WRITE 4711 fe:00:815 0 EOF`.
  static func isExclusive(_ facts: [UInt8]) -> Bool {
    facts.split(separator: 0x0A).contains { line in
      let words = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }).map { String(decoding: $0, as: UTF8.self) }
      return words.first == "lock:" && words.contains("FLOCK") && words.contains("WRITE")
    }
  }
}
