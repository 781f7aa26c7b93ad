internal import CLinuxShims
internal import Glibc

/// Locks that tell the names of live runs from what killed ones have left: they end with the process.
package enum NameLock {
  /// Locks an open file or directory and tells whether the name still stands for it. Throws `EWOULDBLOCK` if another
  /// run holds the lock.
  package static func lock(_ descriptor: Int32, as name: [UInt8], in directory: Int32) throws(SystemError) -> Bool {
    _ = try checked("flock", starc_flock_exclusive(descriptor), name)
    do throws(SystemError) {
      let named = try FileSystem.status(at: directory, name)
      return named.isSameFile(as: try FileSystem.status(of: descriptor))
    } catch {
      if error.isNotFound { return false }
      throw error
    }
  }

  /// The same for what was just made: where the file system knows no locks it is used without.
  package static func lockNew(
    _ descriptor: Int32, as name: [UInt8], in directory: Int32
  ) throws(SystemError) -> Bool {
    do throws(SystemError) { return try lock(descriptor, as: name, in: directory) } catch {
      if error.isLockingUnsupported { return true }
      throw error
    }
  }
}

extension SystemError {
  /// The file system has no locks (some network and user-space ones).
  var isLockingUnsupported: Bool { call.description == "flock" && (isNotSupported || errno == ENOLCK) }
}
