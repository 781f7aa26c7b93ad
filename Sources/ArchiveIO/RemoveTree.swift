internal import CLinuxShims
internal import Glibc

/// Removes a tree of any depth.
package enum RemoveTree {
  /// Removes what has this name, with all below it. Symlinks are removed, not followed; directories that forbid it are
  /// made writable first. A name that does not exist is no error.
  ///
  /// Goes on after a failure to remove as much as possible, and throws the first one at the end. With `isParallel` threads
  /// of its own take part, which is worth it for large trees.
  package static func remove(at directory: Int32, _ name: [UInt8], isParallel: Bool = false) throws(SystemError) {
    do throws(SystemError) {
      try FileSystem.removeFile(at: directory, name)
      return
    } catch {
      if error.isNotFound { return }
      // Linux says EISDIR, POSIX allows EPERM.
      if error.errno != EISDIR && error.errno != EPERM { throw error }
      let status = try FileSystem.status(at: directory, name)
      if status.kind != .directory { throw error }
    }
    if isParallel {
      ParallelRemoval.remove(at: directory, name)
      // Usually nothing is left. If something is, this goes through it and says what is in the way.
      return try remove(at: directory, name)
    }
    let parent = try FileSystem.open(at: directory, [0x2E], [.path, .directory])
    var run = try Run(parent: SharedDescriptor(parent))
    try run.remove(name)
  }

  /// One removal: the directories on the way, and the names of the directories still to be removed on each level.
  private struct Run: ~Copyable {
    private struct Level {
      var start: Int
      var next: Int
    }
    /// `DT_DIR`.
    private static let directoryType: UInt8 = 4

    var stack: DirectoryStack
    var list: DirectoryList
    private var levels: [Level] = []
    var firstError: SystemError?

    init(parent: SharedDescriptor) throws(SystemError) {
      stack = DirectoryStack(root: parent, flags: .readOnly, maximumHeld: 8)
      list = try DirectoryList(bufferByteCount: 64 << 10)
    }

    mutating func remove(_ name: [UInt8]) throws(SystemError) {
      let opened = unsafe withTerminated(name) { unsafe Self.descend($0, &stack) }
      _ = try checked("openat", opened, name)
      empty()
      while let level = levels.last {
        if level.next < list.entries.count {
          levels[levels.count - 1].next += 1
          let opened = unsafe list.withName(level.next) { cName, _ in unsafe Self.descend(cName, &stack) }
          if opened < 0 {
            // Not to be opened, but perhaps empty.
            removeDirectory(level.next)
          } else {
            empty()
          }
        } else {
          list.removeAll(from: level.start)
          levels.removeLast()
          guard stack.ascend(to: levels.count) else {
            throw firstError ?? SystemError("openat", errno: ESTALE, path: name)
          }
          if let parent = levels.last { removeDirectory(parent.next - 1) }
        }
      }
      if let firstError { throw firstError }
      try FileSystem.removeDirectory(at: stack.top, name)
    }

    /// Opens a directory, made readable before if need be.
    private static func descend(_ name: UnsafePointer<CChar>, _ stack: inout DirectoryStack) -> Int64 {
      let result = unsafe stack.descend(name)
      if result != Int64(-EACCES) { return result }
      // Neither can be searched before: the directory above, if it is part of the tree, and then this one.
      if stack.depth > 0 { _ = starc_fchmod(stack.top, 0o700) }
      _ = unsafe starc_fchmodat(stack.top, name, 0o700)
      return unsafe stack.descend(name)
    }

    /// Removes everything but directories from the directory just entered, and lists the directories.
    private mutating func empty() {
      let start = list.entries.count
      do throws(SystemError) { try list.read(stack.top) } catch { note(error) }
      let directory = stack.top
      var failure: SystemError?
      unsafe list.removeEntries(from: start) { name, type in
        if type == Self.directoryType { return false }
        var result = unsafe starc_unlinkat(directory, name, 0)
        if result == Int64(-EACCES), starc_fchmod(directory, 0o700) >= 0 {
          result = unsafe starc_unlinkat(directory, name, 0)
        }
        if result == Int64(-EISDIR) || (result == Int64(-EPERM) && type == 0) { return false }
        if result < 0, result != Int64(-ENOENT) {
          let path = unsafe Array(UnsafeRawBufferPointer(start: name, count: strlen(name)))
          failure = failure ?? SystemError("unlinkat", errno: Int32(truncatingIfNeeded: -result), path: path)
        }
        return true
      }
      if let failure { note(failure) }
      levels.append(Level(start: start, next: start))
    }

    private mutating func removeDirectory(_ index: Int) {
      let directory = stack.top
      let result = unsafe list.withName(index) { name, _ in
        let result = unsafe starc_unlinkat(directory, name, 1)
        if result != Int64(-EACCES) { return result }
        _ = starc_fchmod(directory, 0o700)
        return unsafe starc_unlinkat(directory, name, 1)
      }
      if result < 0, result != Int64(-ENOENT) {
        note(SystemError("unlinkat", errno: Int32(truncatingIfNeeded: -result), path: list.name(index)))
      }
    }

    private mutating func note(_ error: SystemError) {
      if firstError == nil { firstError = error }
    }
  }
}
