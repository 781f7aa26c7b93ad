internal import ArchiveIO
internal import CommandLineTool
internal import Glibc

/// Empties the page cache, so that the next run reads from the disk.
enum PageCache {
  /// How it is done.
  enum Method: String {
    /// All of the system's, which needs root.
    case dropAll = "syncfs, then /proc/sys/vm/drop_caches"
    /// File by file: names and inodes stay in memory.
    case adviseFiles = "syncfs, then posix_fadvise(DONTNEED) for each file: names and inodes stay in memory"
  }

  /// Whether this process may empty all of the system's.
  static var mayDropAll: Bool { unsafe access("/proc/sys/vm/drop_caches", W_OK) == 0 }

  /// Brings what was written to the file system of `place` to the disk, so that no run pays for what another one wrote.
  static func settle(_ place: String) throws(Failure) {
    let name = Array(place.utf8)
    try system(about: name) { () throws(SystemError) in
      let directory = try FileSystem.open(at: FileSystem.currentDirectory, name, [.readOnly, .directory])
      try FileSystem.syncFileSystem(directory.rawValue)
    }
  }

  /// Empties the cache of what is below or at these paths, or of everything; `place` is on their file system.
  static func drop(_ method: Method, _ place: String, paths: [String], token: CancellationToken) throws(Failure) {
    try settle(place)
    switch method {
    case .dropAll: try SmallFile.write(Array("3\n".utf8), to: "/proc/sys/vm/drop_caches")
    case .adviseFiles: for path in paths { try advise(path, token) }
    }
  }

  private static func advise(_ path: String, _ token: CancellationToken) throws(Failure) {
    let name = Array(path.utf8)
    try system(about: name) { () throws(SystemError) in
      let top = try FileSystem.open(at: FileSystem.currentDirectory, name, .readOnly)
      guard try FileSystem.status(of: top.rawValue).kind == .directory else {
        FileSystem.advise(top.rawValue, .doNotNeed)
        return
      }
      let walker = try DirectoryWalker(root: SharedDescriptor(top))
      while let step = walker.next() {
        if token.isCancelled { throw SystemError("posix_fadvise", errno: ECANCELED) }
        guard case .entry(let entry) = step, entry.status.kind == .regular else { continue }
        // What cannot be opened is in no program's way either.
        do throws(SystemError) {
          let file = try FileSystem.open(at: walker.directoryDescriptor, entry.name, [.readOnly, .noFollow])
          FileSystem.advise(file.rawValue, .doNotNeed)
        } catch { continue }
      }
    }
  }
}
