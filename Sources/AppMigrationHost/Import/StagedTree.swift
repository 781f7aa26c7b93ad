internal import ArchiveEngine
package import ArchiveIO
internal import CMigrationShims
internal import Glibc

/// Looks through what was unpacked, before an extension sees any of it.
package enum StagedTree {
  /// What the tree holds.
  package struct Summary: Sendable, Equatable {
    /// Files, directories and links.
    package var items: Int
    /// Bytes of regular files; one with several names counts once.
    package var bytes: Int64

    /// Makes a summary.
    package init(items: Int, bytes: Int64) { (self.items, self.bytes) = (items, bytes) }
  }

  /// Removes what was withdrawn, refuses what may not arrive, and takes away rights that nothing that arrives may have.
  ///
  /// May arrive: directories, regular files, hard links, and symlinks that stay below the root. Anything else is an error that names it. Files
  /// and directories lose set-id and sticky bits and can be read and written by their owner, which is `owner` if this process may set it.
  /// Attributes of the `security` and `trusted` namespaces, capabilities above all, are removed.
  package static func admit(
    root: SharedDescriptor, owner: (UInt32, UInt32)?, withdrawn: WithdrawnItems, token: CancellationToken?
  ) throws(MigrationError) -> Summary {
    do throws(SystemError) { try FileSystem.setMode(of: root.rawValue, 0o700) } catch {
      throw failure([], error)
    }
    if !withdrawn.isEmpty { try remove(withdrawn, root, token) }
    var admission = Admission(root: root, owner: owner)
    try walk(root, token) { entry, walker throws(MigrationError) in
      try admission.admit(entry, in: walker.directoryDescriptor)
    }
    // Only now can every directory be searched.
    try admission.checkDoubtfulLinks()
    return admission.summary
  }

  private static func remove(
    _ withdrawn: WithdrawnItems, _ root: SharedDescriptor, _ token: CancellationToken?
  ) throws(MigrationError) {
    var directories: [[UInt8]] = []
    try walk(root, token) { entry, walker throws(MigrationError) in
      let directory = walker.directoryDescriptor
      do throws(SystemError) {
        if withdrawn.hasPrefix(of: entry.relativePath) {
          walker.skipSubtree()
          return try RemoveTree.remove(at: directory, entry.name)
        }
        let isDirectory = entry.status.kind == .directory
        if isDirectory { try open(entry, directory) }
        if withdrawn.hasHash(of: entry.relativePath) {
          if isDirectory {
            directories.append(entry.relativePath)
          } else {
            try FileSystem.removeFile(at: directory, entry.name)
          }
        }
      } catch {
        if !error.isNotFound { throw failure(entry.relativePath, error) }
      }
    }
    // Deepest first; one that still holds something was withdrawn itself, but not what others put into it.
    let cursor = DirectoryCursor(root: root)
    for path in directories.reversed() {
      let slash = path.lastIndex(of: 0x2F)
      let name = slash.map { Array(path[($0 + 1)...]) } ?? path
      do throws(SystemError) {
        let parent = try cursor.descriptor(for: slash.map { path[..<$0] } ?? [])
        try FileSystem.removeDirectory(at: parent, name)
        cursor.invalidate(path[...])
      } catch {
        if !error.alreadyExists && !error.isNotFound { throw failure(path, error) }
      }
    }
  }

  /// Lets the owner, which this process acts as, into a directory.
  private static func open(_ entry: WalkEntry, _ directory: Int32) throws(SystemError) {
    if entry.status.mode & 0o700 == 0o700 { return }
    try FileSystem.setMode(at: directory, entry.name, entry.status.mode | 0o700)
  }

  private static func walk(
    _ root: SharedDescriptor, _ token: CancellationToken?,
    _ visit: (WalkEntry, DirectoryWalker) throws(MigrationError) -> Void
  ) throws(MigrationError) {
    let walker: DirectoryWalker
    do throws(SystemError) { walker = try DirectoryWalker(root: root) } catch { throw failure([], error) }
    while let step = walker.next() {
      if token?.isCancelled == true { throw MigrationError(.cancelled, "cancelled") }
      switch step {
      case .entry(let entry): try visit(entry, walker)
      case .failure(let error): throw failure(error.path, error)
      }
    }
  }

  static func failure(_ path: [UInt8], _ error: SystemError) -> MigrationError {
    let shown = path.isEmpty ? "the unpacked archive" : "unpacked \"\(PathText.printable(path))\""
    return MigrationError(
      error.isOutOfSpace ? .noSpace : .system, "cannot check \(shown): \(error.message)")
  }
}
