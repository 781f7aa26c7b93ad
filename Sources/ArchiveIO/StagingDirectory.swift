internal import CLinuxShims
internal import Glibc

/// A directory that appears under its name only when it is complete.
///
/// It is filled as `.NAME.starc-partial` (mode 0700, locked) beside its final place and renamed by ``commit(sync:)``,
/// never replacing anything. What a killed run left is removed by the next run on the same destination; while another
/// run is at it, making it fails with `EWOULDBLOCK`. A symlink or anything that is not a directory of this user in its
/// place is an error. One thread at a time; an object that is given up without a commit removes its directory.
public final class StagingDirectory {
  /// The open directory.
  public let root: SharedDescriptor
  /// Its name while it is filled, for messages.
  public let temporaryName: [UInt8]
  private let placement: Placement
  private var isOpen = true

  /// Prepares for a directory whose final name is `path`. Fails with `EEXIST` if that exists, whatever it is.
  public init(path: [UInt8]) throws(SystemError) {
    let placement = try Placement(path)
    let name = placement.hiddenName(suffix: ".starc-partial")
    self.placement = placement
    temporaryName = name
    try Self.expectFree(placement, path)
    root = try Self.make(placement, name)
  }

  deinit { try? abandon() }

  /// Puts the directory under its final name; `EEXIST` if that has been taken meanwhile. With `sync` the whole file
  /// system is brought to the disk before, and the name after. After a failure the object can still be abandoned,
  /// unless only the last step (bringing the parent to the disk) failed.
  public func commit(sync: Bool) throws(SystemError) {
    guard isOpen else { throw SystemError("renameat2", errno: EBADF) }
    let parent = placement.directory.rawValue
    if sync { try FileSystem.syncFileSystem(root.rawValue) }
    do throws(SystemError) {
      try FileSystem.renameWithoutReplacing(from: parent, temporaryName, to: parent, placement.name)
    } catch {
      if error.errno != EINVAL && !error.isNotSupported { throw error }
      // The file system cannot promise it: look first. A rename replaces no file and no filled directory.
      try Self.expectFree(placement, placement.name)
      try FileSystem.rename(from: parent, temporaryName, to: parent, placement.name)
    }
    isOpen = false
    if sync { try placement.sync() }
  }

  /// Removes the directory with all that is in it. Does nothing after a commit or when done already.
  public func abandon() throws(SystemError) {
    guard isOpen else { return }
    isOpen = false
    try RemoveTree.remove(at: placement.directory.rawValue, temporaryName, isParallel: true)
  }

  private static func expectFree(_ placement: Placement, _ path: [UInt8]) throws(SystemError) {
    do throws(SystemError) {
      _ = try FileSystem.status(at: placement.directory.rawValue, placement.name)
    } catch {
      if error.isNotFound { return }
      throw error
    }
    throw SystemError("mkdirat", errno: EEXIST, path: path)
  }

  private static func make(_ placement: Placement, _ name: [UInt8]) throws(SystemError) -> SharedDescriptor {
    let parent = placement.directory.rawValue
    // Every turn ends, or removes what a killed run has left; others may do the same meanwhile.
    for _ in 0..<16 {
      var isNew = true
      do throws(SystemError) { try FileSystem.makeDirectory(at: parent, name, mode: 0o700) } catch {
        if error.errno != EEXIST { throw error }
        isNew = false
      }
      do throws(SystemError) {
        if let directory = try take(placement, name, isNew: isNew) { return directory }
      } catch {
        if !error.isNotFound { throw error }
      }
    }
    throw SystemError("mkdirat", errno: EWOULDBLOCK, path: name)
  }

  /// Opens and locks the directory. Nil if it was an abandoned one, which is removed then, or is no longer the same.
  private static func take(
    _ placement: Placement, _ name: [UInt8], isNew: Bool
  ) throws(SystemError) -> SharedDescriptor? {
    let parent = placement.directory.rawValue
    if !isNew {
      let status = try FileSystem.status(at: parent, name)
      if status.kind != .directory { throw SystemError("openat", errno: ENOTDIR, path: name) }
      if status.userID != ProcessFacts.effectiveUserID { throw SystemError("openat", errno: EPERM, path: name) }
      // A killed run may have given it its final mode already.
      if status.mode & 0o700 != 0o700 { try FileSystem.setMode(at: parent, name, 0o700) }
    }
    do throws(SystemError) {
      let directory = SharedDescriptor(try FileSystem.open(at: parent, name, [.readOnly, .directory, .noFollow]))
      let isLocked =
        isNew
        ? try placement.lockNew(directory.rawValue, as: name)
        : try placement.lock(directory.rawValue, as: name)
      if !isLocked { return nil }
      if isNew { return directory }
    } catch {
      // Empty and of no use to anybody.
      if isNew && error.errno != EWOULDBLOCK { try? FileSystem.removeDirectory(at: parent, name) }
      throw error
    }
    try RemoveTree.remove(at: parent, name, isParallel: true)
    return nil
  }
}
