internal import CLinuxShims
internal import Glibc
internal import Synchronization

/// The mark of a run that makes temporary files below a directory which others use too: a file `.starc-RANDOM.lock`,
/// locked as long as the run lives. With it ``DeadRuns`` tells what a killed run has left from what a live one needs.
///
/// The file says which inode it is. So what an archive, a copy or a backup brings under such a name is nobody's mark, and
/// no archive can have files of its choice removed. It appears complete and locked. Removed when the object goes.
package final class RunMark: Sendable {
  private let directory: SharedDescriptor
  private let name: [UInt8]
  private let file: SharedDescriptor
  private let isLeft = Atomic(false)

  private init(_ directory: SharedDescriptor, _ name: [UInt8], _ file: SharedDescriptor) {
    self.directory = directory
    self.name = name
    self.file = file
  }

  deinit { if !isLeft.load(ordering: .relaxed) { try? FileSystem.removeFile(at: directory.rawValue, name) } }

  /// Marks a directory. Nil where this user may make no files in it, or the file system has no locks.
  package static func make(_ run: RunName, in directory: SharedDescriptor) throws(SystemError) -> RunMark? {
    let name = run.markName
    do throws(SystemError) {
      do throws(SystemError) {
        return RunMark(directory, name, try makeAtOnce(name, in: directory.rawValue))
      } catch {
        // No files without names on this file system, or no /proc to name them by.
        if ![EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(error.errno) { throw error }
      }
      return RunMark(directory, name, try makeInSteps(name, in: directory.rawValue))
    } catch {
      if error.isPermissionDenied || error.errno == EROFS || error.isLockingUnsupported { return nil }
      throw SystemError(error.call, errno: error.errno, path: name)
    }
  }

  private static func makeAtOnce(_ name: [UInt8], in directory: Int32) throws(SystemError) -> SharedDescriptor {
    let file = SharedDescriptor(
      try FileSystem.open(at: directory, [0x2E], [.readWrite, .temporaryFile], mode: 0o600))
    try lockAndFill(file)
    try FileSystem.giveName(to: file.rawValue, at: directory, name)
    return file
  }

  /// A run that is killed in the middle leaves an empty file.
  private static func makeInSteps(_ name: [UInt8], in directory: Int32) throws(SystemError) -> SharedDescriptor {
    let file = SharedDescriptor(
      try FileSystem.open(at: directory, name, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600))
    do throws(SystemError) { try lockAndFill(file) } catch {
      try? FileSystem.removeFile(at: directory, name)
      throw error
    }
    return file
  }

  private static func lockAndFill(_ file: SharedDescriptor) throws(SystemError) {
    _ = try checked("flock", starc_flock_exclusive(file.rawValue))
    let text = text(of: try FileSystem.status(of: file.rawValue))
    try unsafe text.withUnsafeBufferPointer { (buffer) throws(SystemError) in
      try unsafe FileSystem.write(file.rawValue, UnsafeRawBufferPointer(buffer))
    }
  }

  private static func text(of status: FileStatus) -> [UInt8] { Array("starc run, inode \(status.inode)\n".utf8) }

  /// The mark of a run that is gone, locked so that nobody else takes it for one; nil for one of a live run, for one that
  /// somebody else is looking after, and for what only looks like a mark.
  static func takeOver(_ run: RunName, in directory: SharedDescriptor) throws(SystemError) -> RunMark? {
    let name = run.markName
    let named = try FileSystem.status(at: directory.rawValue, name)
    guard named.kind == .regular, named.userID == ProcessFacts.effectiveUserID else { return nil }
    // For writing, without which some network file systems give no lock.
    let file = SharedDescriptor(
      try FileSystem.open(at: directory.rawValue, name, [.readWrite, .noFollow, .nonBlocking]))
    let expected = text(of: try FileSystem.status(of: file.rawValue))
    var bytes = [UInt8](repeating: 0, count: expected.count + 1)
    let count = try unsafe bytes.withUnsafeMutableBufferPointer { (buffer) throws(SystemError) in
      try unsafe FileSystem.pread(file.rawValue, into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
    guard bytes.prefix(count) == expected[...] else { return nil }
    guard try NameLock.lock(file.rawValue, as: name, in: directory.rawValue) else { return nil }
    return RunMark(directory, name, file)
  }

  /// Gives the mark up without removing it: a later run is to clean up.
  package func leave() { isLeft.store(true, ordering: .relaxed) }
}
