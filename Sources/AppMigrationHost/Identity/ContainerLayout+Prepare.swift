internal import ArchiveEngine
internal import ArchiveIO
internal import Glibc

extension ContainerLayout {
  /// Makes what is missing of the container (`Documents`, `Library/Application Support`) and of the app groups, all with mode 0700.
  ///
  /// Refuses a symlink or something else in the container's place, and a container that is a mount point: nothing could be moved into it from
  /// beside it by renaming.
  package func prepare(groups: [String] = []) throws(MigrationError) {
    let parent = try Self.makeDirectories(parentPath)
    let container = try Self.makeOne(in: parent, containerName, containerPath)
    try refuseMountPoint(container, parent)
    _ = try Self.makeOne(in: container, Array("Documents".utf8), documentsPath)
    let library = try Self.makeOne(in: container, Array("Library".utf8), containerPath + Array("/Library".utf8))
    _ = try Self.makeOne(in: library, Array("Application Support".utf8), applicationSupportPath)
    try prepareGroups(groups)
  }

  /// Makes what is missing of the app groups. Whoever is granted a group is given its directory, whether or not the app has used it yet.
  func prepareGroups(_ groups: [String]) throws(MigrationError) {
    for group in groups {
      let path = groupPath(group)
      let end = path.lastIndex(of: 0x2F) ?? 0
      _ = try Self.makeOne(in: try Self.makeDirectories(Array(path[..<end])), Array(path[(end + 1)...]), path)
    }
  }

  private func refuseMountPoint(_ container: SharedDescriptor, _ parent: SharedDescriptor) throws(MigrationError) {
    do throws(SystemError) {
      let inner = try FileSystem.status(of: container.rawValue)
      let outer = try FileSystem.status(of: parent.rawValue)
      // A directory that is mounted in another place has the same device, and yet nothing can be renamed into it.
      if inner.device == outer.device && inner.mountID == outer.mountID { return }
    } catch {
      throw .place("look at", containerPath, error)
    }
    throw MigrationError(
      .container,
      """
      cannot stage beside \(PathText.printable(containerPath)): it is a mount point, and what is unpacked must lie on the same file system. \
      Use a directory below it as the container.
      """)
  }

  /// Opens a directory by a path that the user gave, symlinks followed, and makes what is missing of it.
  static func makeDirectories(_ path: [UInt8]) throws(MigrationError) -> SharedDescriptor {
    do throws(SystemError) {
      do throws(SystemError) { return try openFollowing(path) } catch { if !error.isNotFound { throw error } }
      for end in path.indices.dropFirst() where path[end] == 0x2F {
        try makeOrIgnore(FileSystem.currentDirectory, Array(path[..<end]))
      }
      try makeOrIgnore(FileSystem.currentDirectory, path)
      return try openFollowing(path)
    } catch {
      throw .place("make", path, error)
    }
  }

  private static func openFollowing(_ path: [UInt8]) throws(SystemError) -> SharedDescriptor {
    SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, path, [.readOnly, .directory]))
  }

  private static func makeOrIgnore(_ directory: Int32, _ name: [UInt8]) throws(SystemError) {
    do throws(SystemError) { try FileSystem.makeDirectory(at: directory, name, mode: 0o700) } catch {
      if error.errno == EEXIST { return }
      // Some directories on the way may neither be written nor, on a read-only file system, be made anew: they exist.
      do throws(SystemError) { _ = try FileSystem.statusFollowing(at: directory, name) } catch let other {
        throw other.isNotFound ? error : other
      }
    }
  }

  /// Opens one directory, not following a symlink, and makes it if it is missing: with the owner of the directory in which it lies.
  private static func makeOne(
    in parent: SharedDescriptor, _ name: [UInt8], _ path: [UInt8]
  ) throws(MigrationError) -> SharedDescriptor {
    let flags: OpenFlags = [.readOnly, .directory, .noFollow]
    do throws(SystemError) {
      do throws(SystemError) { return SharedDescriptor(try FileSystem.open(at: parent.rawValue, name, flags)) } catch {
        if !error.isNotFound { throw error }
      }
      try makeOrIgnore(parent.rawValue, name)
      let made = SharedDescriptor(try FileSystem.open(at: parent.rawValue, name, flags))
      let owner = try FileSystem.status(of: parent.rawValue)
      let own = try FileSystem.status(of: made.rawValue)
      // Root makes it for a user: in a place that belongs to the user it has to be the user's.
      if ProcessFacts.effectiveUserID == 0, own.userID == 0, owner.userID != 0 {
        try FileSystem.setOwner(of: made.rawValue, userID: owner.userID, groupID: owner.groupID)
      }
      return made
    } catch {
      if error.isNotDirectory {
        throw MigrationError(
          .container, "\(PathText.printable(path)) is a symlink or no directory; the place must be a directory or free")
      }
      throw .place("make", path, error)
    }
  }
}
