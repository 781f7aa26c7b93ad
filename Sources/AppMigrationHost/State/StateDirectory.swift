internal import ArchiveEngine
internal import ArchiveIO
internal import Glibc

/// The open directory `.NAME.migration`: reads, writes and removes what lies in it so that a crash leaves the old or the new.
///
/// When root works on a user's container, everything here is given to that user: the app must be able to read it and to take its lock.
struct StateDirectory: Sendable {
  /// The container's parent.
  let parent: SharedDescriptor
  /// The directory itself.
  let descriptor: SharedDescriptor
  private let path: [UInt8]
  /// Whom new files are given to.
  private let heir: (user: UInt32, group: UInt32)?

  /// Opens the directory; nil if there is none.
  static func open(_ layout: ContainerLayout) throws(MigrationError) -> StateDirectory? {
    do throws(SystemError) {
      let parent = SharedDescriptor(
        try FileSystem.open(at: FileSystem.currentDirectory, layout.parentPath, [.readOnly, .directory]))
      return try open(layout, parent)
    } catch {
      if error.isNotFound { return nil }
      throw describe(layout, error)
    }
  }

  /// Opens the directory and makes it before if need be, with all directories above.
  static func make(_ layout: ContainerLayout) throws(MigrationError) -> StateDirectory {
    let parent = try ContainerLayout.makeDirectories(layout.parentPath)
    do throws(SystemError) {
      do throws(SystemError) { return try open(layout, parent) } catch { if !error.isNotFound { throw error } }
      do throws(SystemError) {
        try FileSystem.makeDirectory(at: parent.rawValue, layout.stateName, mode: 0o700)
        let owner = try containerOwner(layout, parent)
        if ProcessFacts.effectiveUserID == 0, let owner, owner.userID != 0 {
          try FileSystem.setOwner(
            at: parent.rawValue, layout.stateName, userID: owner.userID, groupID: owner.groupID)
        }
        try FileSystem.syncFile(parent.rawValue)
      } catch {
        // Another process may have been faster.
        if error.errno != EEXIST { throw error }
      }
      return try open(layout, parent)
    } catch {
      throw describe(layout, error)
    }
  }

  private static func open(
    _ layout: ContainerLayout, _ parent: SharedDescriptor
  ) throws(SystemError) -> StateDirectory {
    let directory = SharedDescriptor(
      try FileSystem.open(at: parent.rawValue, layout.stateName, [.readOnly, .directory, .noFollow]))
    let status = try FileSystem.status(of: directory.rawValue)
    let user = ProcessFacts.effectiveUserID
    if status.userID != user {
      let owner = try containerOwner(layout, parent)
      guard user == 0, status.userID == owner?.userID else {
        throw SystemError("openat", errno: EPERM, path: layout.statePath)
      }
    }
    if status.mode != 0o700 { try FileSystem.setMode(of: directory.rawValue, 0o700) }
    return StateDirectory(
      parent: parent, descriptor: directory, path: layout.statePath,
      heir: status.userID == user ? nil : (status.userID, status.groupID))
  }

  private static func containerOwner(
    _ layout: ContainerLayout, _ parent: SharedDescriptor
  ) throws(SystemError) -> FileStatus? {
    do throws(SystemError) { return try FileSystem.status(at: parent.rawValue, layout.containerName) } catch {
      if error.isNotFound { return nil }
      throw error
    }
  }

  private static func describe(_ layout: ContainerLayout, _ error: SystemError) -> MigrationError {
    let shown = PathText.printable(layout.statePath)
    if error.isNotDirectory {
      return MigrationError(.container, "\(shown) is a symlink or no directory; it must be removed")
    }
    if error.errno == EPERM { return MigrationError(.container, "\(shown) belongs to another user") }
    return .place("use", layout.statePath, error)
  }

  /// The contents of a file; nil if there is none.
  func read(_ name: [UInt8], limit: Int) throws(MigrationError) -> [UInt8]? {
    do throws(SystemError) {
      let file = try FileSystem.open(at: descriptor.rawValue, name, [.readOnly, .noFollow, .nonBlocking])
      guard try FileSystem.status(of: file.rawValue).kind == .regular,
        let bytes = try FileContents.read(file.rawValue, limit: limit)
      else { throw SystemError("read", errno: EFBIG, path: name) }
      return bytes
    } catch {
      if error.isNotFound { return nil }
      throw .place("read", path + [0x2F] + name, error)
    }
  }

  /// Puts a file in place, on the disk before this returns; until then the old one is there.
  func write(_ bytes: [UInt8], to name: [UInt8]) throws(MigrationError) {
    let temporary = Self.unfinished(name)
    do throws(SystemError) {
      try RemoveTree.remove(at: descriptor.rawValue, temporary)
      let file = try create(temporary)
      try unsafe bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in
        try unsafe FileSystem.write(file.rawValue, bytes)
      }
      try FileSystem.syncFile(file.rawValue)
      try file.close()
      try FileSystem.rename(from: descriptor.rawValue, temporary, to: descriptor.rawValue, name)
      try FileSystem.syncFile(descriptor.rawValue)
    } catch {
      throw .place("write", path + [0x2F] + name, error)
    }
  }

  /// Removes a file or tree; gone from the disk when this returns. A missing one is no error.
  func remove(_ name: [UInt8]) throws(MigrationError) {
    do throws(SystemError) {
      try RemoveTree.remove(at: descriptor.rawValue, name)
      try FileSystem.syncFile(descriptor.rawValue)
    } catch {
      throw .place("remove", path + [0x2F] + name, error)
    }
  }

  /// Removes what writes that were cut off have left. It means nothing, so it need not be gone from the disk.
  func removeUnfinished(_ names: [[UInt8]]) throws(MigrationError) {
    for name in names {
      do throws(SystemError) { try RemoveTree.remove(at: descriptor.rawValue, Self.unfinished(name)) } catch {
        throw .place("remove", path + [0x2F] + Self.unfinished(name), error)
      }
    }
  }

  private static func unfinished(_ name: [UInt8]) -> [UInt8] { name + Array(".new".utf8) }

  /// Whether a name is taken.
  func holds(_ name: [UInt8]) throws(MigrationError) -> Bool {
    do throws(SystemError) { return try exists(name) } catch {
      throw .place("look at", path + [0x2F] + name, error)
    }
  }

  /// The same, with the system's own error.
  func exists(_ name: [UInt8]) throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try FileSystem.status(at: descriptor.rawValue, name)
      return true
    } catch {
      if error.isNotFound { return false }
      throw error
    }
  }

  /// Opens a file for a lock and makes it if need be. It is never removed, so that all lock the same.
  func openLock(_ name: [UInt8]) throws(MigrationError) -> SharedDescriptor {
    do throws(SystemError) {
      for _ in 0..<2 {
        do throws(SystemError) {
          return SharedDescriptor(
            try FileSystem.open(at: descriptor.rawValue, name, [.readOnly, .noFollow, .nonBlocking]))
        } catch { if !error.isNotFound { throw error } }
        do throws(SystemError) { return SharedDescriptor(try create(name)) } catch {
          if error.errno != EEXIST { throw error }
        }
      }
      throw SystemError("openat", errno: ENOENT, path: name)
    } catch {
      throw .place("open", path + [0x2F] + name, error)
    }
  }

  /// Only a file that was just made is given away: one that a user put here may be a second name of another's file.
  private func create(_ name: [UInt8]) throws(SystemError) -> Descriptor {
    let file = try FileSystem.open(
      at: descriptor.rawValue, name, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
    if let heir { try FileSystem.setOwner(of: file.rawValue, userID: heir.user, groupID: heir.group) }
    return file
  }
}
