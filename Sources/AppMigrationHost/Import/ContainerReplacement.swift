internal import ArchiveEngine
internal import ArchiveIO
internal import Glibc

/// Moves, restores and empties a container. Each step is on the disk when it returns, and may be repeated after a crash.
package enum ContainerReplacement {
  /// What ``ContainerLayout/prepare(groups:)`` makes and an empty container may therefore hold.
  private static let skeleton = Set(["Documents", "Library", "Library/Application Support"].map { Array($0.utf8) })

  /// Whether the container is missing or holds nothing but the empty directories that every container has.
  package static func isEmpty(_ layout: ContainerLayout) throws(MigrationError) -> Bool {
    do throws(SystemError) {
      guard let container = try open(layout) else { return true }
      let walker = try DirectoryWalker(root: container)
      while let step = walker.next() {
        switch step {
        case .entry(let entry):
          if entry.status.kind != .directory || !skeleton.contains(entry.relativePath) { return false }
        case .failure(let error): throw error
        }
      }
      return true
    } catch {
      throw describe("look into", layout, error)
    }
  }

  /// Moves the container to `previous/` and makes a new, entirely empty one with the same mode and owner.
  package static func moveAside(_ layout: ContainerLayout) throws(MigrationError) {
    let state = try StateDirectory.make(layout)
    // A rename would take the place of an empty one, and an old container is never to be lost.
    if try state.holds(StateName.previous) {
      throw MigrationError(
        .container,
        """
        \(PathText.printable(layout.previousPath)) exists although no migration is under way; it holds an older container. \
        Move it to another place and try again.
        """)
    }
    do throws(SystemError) {
      guard let old = try open(layout) else { throw SystemError("openat", errno: ENOENT, path: layout.containerPath) }
      let status = try FileSystem.status(of: old.rawValue)
      let parent = state.parent.rawValue
      try FileSystem.rename(
        from: parent, layout.containerName, to: state.descriptor.rawValue, StateName.previous)
      try FileSystem.syncFile(state.descriptor.rawValue)
      try FileSystem.syncFile(parent)
      try FileSystem.makeDirectory(at: parent, layout.containerName, mode: 0o700)
      guard let new = try open(layout) else { throw SystemError("openat", errno: ENOENT, path: layout.containerPath) }
      let made = try FileSystem.status(of: new.rawValue)
      if made.userID != status.userID || made.groupID != status.groupID {
        try FileSystem.setOwner(of: new.rawValue, userID: status.userID, groupID: status.groupID)
      }
      try FileSystem.setMode(of: new.rawValue, status.mode)
      try FileSystem.syncFile(new.rawValue)
      try FileSystem.syncFile(parent)
    } catch {
      throw describe("move aside", layout, error)
    }
  }

  /// Puts `previous/` in the container's place; if there is none, that was done before or is not to be done.
  package static func restore(_ layout: ContainerLayout) throws(MigrationError) {
    guard let state = try StateDirectory.open(layout) else { return }
    do throws(SystemError) {
      let parent = state.parent.rawValue
      if try state.exists(StateName.previous) {
        do throws(SystemError) { try emptyContents(layout) } catch {
          // Something else than a directory has its place: it goes.
          if !error.isNotDirectory { throw error }
          try RemoveTree.remove(at: parent, layout.containerName)
        }
        // A directory takes the place of an empty one in one step: at no moment is there no container.
        try FileSystem.rename(
          from: state.descriptor.rawValue, StateName.previous, to: parent, layout.containerName)
      }
      // Also when it had been renamed before: that run may not have come so far.
      try FileSystem.syncFile(parent)
      try FileSystem.syncFile(state.descriptor.rawValue)
    } catch {
      throw describe("restore", layout, error)
    }
  }

  /// Removes `previous/`.
  package static func discardPrevious(_ layout: ContainerLayout) throws(MigrationError) {
    try StateDirectory.open(layout)?.remove(StateName.previous)
  }

  /// Removes everything in the container. The directory itself stays, with its inode, mode and owner.
  package static func empty(_ layout: ContainerLayout) throws(MigrationError) {
    do throws(SystemError) { try emptyContents(layout) } catch { throw describe("empty", layout, error) }
  }

  private static func emptyContents(_ layout: ContainerLayout) throws(SystemError) {
    guard let container = try open(layout, makingAccessible: true) else { return }
    let directory = container.rawValue
    // Names are read first: what is removed must not disturb the reading.
    let walker = try DirectoryWalker(root: container)
    var names: [[UInt8]] = []
    while let step = walker.next() {
      switch step {
      case .entry(let entry):
        names.append(entry.name)
        walker.skipSubtree()
      case .failure(let error): if !error.isNotFound { throw error }
      }
    }
    var first: SystemError?
    for name in names {
      do throws(SystemError) { try RemoveTree.remove(at: directory, name) } catch { first = first ?? error }
    }
    if let first { throw first }
    // What lay deeper is out of reach as soon as this is on the disk.
    try FileSystem.syncFile(directory)
  }

  /// Opens the container; nil if it does not exist.
  private static func open(
    _ layout: ContainerLayout, makingAccessible: Bool = false
  ) throws(SystemError) -> SharedDescriptor? {
    do throws(SystemError) {
      let parent = try FileSystem.open(at: FileSystem.currentDirectory, layout.parentPath, [.readOnly, .directory])
      if makingAccessible {
        // An extension may have closed it.
        let status = try FileSystem.status(at: parent.rawValue, layout.containerName)
        if status.kind == .directory, status.mode & 0o700 != 0o700 {
          try FileSystem.setMode(at: parent.rawValue, layout.containerName, status.mode | 0o700)
        }
      }
      return SharedDescriptor(
        try FileSystem.open(at: parent.rawValue, layout.containerName, [.readOnly, .directory, .noFollow]))
    } catch {
      if error.isNotFound { return nil }
      throw error
    }
  }

  private static func describe(
    _ action: String, _ layout: ContainerLayout, _ error: SystemError
  ) -> MigrationError {
    if error.isNotDirectory && error.path == layout.containerName {
      return MigrationError(
        .container, "\(PathText.printable(layout.containerPath)) is a symlink or no directory; it cannot be a container"
      )
    }
    let name = error.path.isEmpty || error.path == layout.containerName ? "" : " (\(PathText.printable(error.path)))"
    return MigrationError(
      error.isOutOfSpace ? .noSpace : .container,
      "cannot \(action) the container \(PathText.printable(layout.containerPath))\(name): \(error.reason)")
  }
}
