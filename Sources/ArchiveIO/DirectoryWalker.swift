internal import CLinuxShims
internal import Glibc

/// A file that a walk came to.
package struct WalkEntry: Sendable {
  /// The path from the walk's root, without a slash at either end.
  package let relativePath: [UInt8]
  /// Where the last component begins in ``relativePath``.
  package let nameOffset: Int
  /// What it is.
  package let status: FileStatus

  /// The last component.
  package var name: [UInt8] { Array(relativePath[nameOffset...]) }

  package init(relativePath: [UInt8], nameOffset: Int, status: FileStatus) {
    self.relativePath = relativePath
    self.nameOffset = nameOffset
    self.status = status
  }
}

/// One step of a walk.
package enum WalkStep: Sendable {
  case entry(WalkEntry)
  /// A file that vanished or cannot be looked at, or a directory (already given as an entry) that cannot be read. The
  /// error's path is relative to the walk's root; the walk goes on.
  case failure(SystemError)
}

/// Walks a tree of directories: names sorted by their bytes, a directory before what lies in it, depth first.
///
/// The root itself is not an entry. Symlinks are entries and never followed. There is one `statx` for each entry, no
/// recursion, and at most `maximumOpenDescriptors` descriptors for any depth. One thread at a time.
package final class DirectoryWalker {
  private struct Level {
    /// The entries of this directory in the list.
    var start: Int
    var next: Int
    /// The length of the directory's path, with its slash.
    var pathLength: Int
  }

  private var stack: DirectoryStack
  private var list: DirectoryList
  private var levels: [Level] = []
  /// The path of the directory that is being gone through, with a slash at its end.
  private var path: [UInt8] = []
  /// The index of the directory that was given last and will be entered with the next step.
  private var pending: Int?
  private let oneFileSystem: Bool
  private let device: UInt64

  /// Begins at the directory `startPath` below the root (without following symlinks); "" is the root itself.
  ///
  /// With `oneFileSystem`, directories on another device than the start are entries but not entered. Fails where the
  /// start cannot be opened and read.
  package init(
    root: SharedDescriptor, startPath: [UInt8] = [], oneFileSystem: Bool = false, maximumOpenDescriptors: Int = 8
  ) throws(SystemError) {
    let cursor = DirectoryCursor(root: root)
    let top = try cursor.descriptor(for: startPath[...])
    let start = try withExtendedLifetime(cursor) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: top, [0x2E], [.readOnly, .directory, .noFollow]))
    }
    self.oneFileSystem = oneFileSystem
    device = oneFileSystem ? try FileSystem.status(of: start.rawValue).device : 0
    stack = DirectoryStack(root: start, flags: .readOnly, maximumHeld: maximumOpenDescriptors)
    list = try DirectoryList()
    var components = PathComponents(startPath[...])
    while let component = components.next() {
      path.append(contentsOf: startPath[component])
      path.append(0x2F)
    }
    levels.append(Level(start: 0, next: 0, pathLength: path.count))
    try list.read(start.rawValue)
    list.sort(from: 0)
  }

  /// The open directory in which the last entry lies; valid until the next step.
  package var directoryDescriptor: Int32 { stack.top }

  /// The next entry or failure, nil at the end.
  package func next() -> WalkStep? {
    if let index = pending {
      pending = nil
      if let error = enter(index) { return .failure(error) }
    }
    while let level = levels.last {
      if level.next < list.entries.count {
        levels[levels.count - 1].next += 1
        return visit(level.next)
      }
      if let error = leave() { return .failure(error) }
    }
    return nil
  }

  /// Leaves out what lies in the directory that was given last.
  package func skipSubtree() { pending = nil }

  private func visit(_ index: Int) -> WalkStep {
    var status = starc_status()
    let result = unsafe list.withName(index) { name, _ in unsafe starc_statx(stack.top, name, 0, &status) }
    var entryPath: [UInt8] = []
    entryPath.reserveCapacity(path.count + 32)
    entryPath.append(contentsOf: path)
    list.appendName(index, to: &entryPath)
    if result < 0 {
      return .failure(SystemError("statx", errno: Int32(truncatingIfNeeded: -result), path: entryPath))
    }
    let entry = WalkEntry(relativePath: entryPath, nameOffset: path.count, status: FileStatus(status))
    if entry.status.kind == .directory, !oneFileSystem || entry.status.device == device { pending = index }
    return .entry(entry)
  }

  /// Goes into a directory and reads its names.
  private func enter(_ index: Int) -> SystemError? {
    let result = unsafe list.withName(index) { name, _ in unsafe stack.descend(name) }
    let parentLength = path.count
    list.appendName(index, to: &path)
    if result < 0 {
      defer { path.removeSubrange(parentLength...) }
      return SystemError("openat", errno: Int32(truncatingIfNeeded: -result), path: path)
    }
    path.append(0x2F)
    let start = list.entries.count
    levels.append(Level(start: start, next: start, pathLength: path.count))
    var failure: SystemError?
    do throws(SystemError) {
      try list.read(stack.top)
    } catch {
      failure = SystemError(error.call, errno: error.errno, path: path.dropLast())
    }
    list.sort(from: start)
    return failure
  }

  /// Goes up from a directory that is done.
  private func leave() -> SystemError? {
    guard let level = levels.popLast() else { return nil }
    list.removeAll(from: level.start)
    guard let parent = levels.last else { return nil }
    path.removeSubrange(parent.pathLength...)
    if stack.ascend(to: levels.count - 1) { return nil }
    // The tree was changed while we were below: find the directory again by its names.
    while stack.depth < levels.count - 1 {
      // The directory of level n was entered from the entry before the next one of level n - 1.
      let index = levels[stack.depth].next - 1
      let result = unsafe list.withName(index) { name, _ in unsafe stack.descend(name) }
      if result < 0 {
        // What is left of the directories that cannot be reached is given up, with one failure.
        let error = SystemError(
          "openat", errno: Int32(truncatingIfNeeded: -result),
          path: Array(path[..<levels[stack.depth + 1].pathLength].dropLast()))
        list.removeAll(from: levels[stack.depth + 1].start)
        levels.removeSubrange((stack.depth + 1)...)
        path.removeSubrange(levels[stack.depth].pathLength...)
        return error
      }
    }
    return nil
  }
}
