internal import ArchiveIO
internal import CommandLineTool
internal import Glibc

/// Empties the page cache, so that the next run reads from the disk.
enum PageCache {
  /// How it is done.
  enum Method: String {
    /// All of the system's, which needs root.
    case dropAll = "sync, then /proc/sys/vm/drop_caches"
    /// File by file: names and inodes stay in memory.
    case adviseFiles = "sync, then posix_fadvise(DONTNEED) for each file: names and inodes stay in memory"
  }

  /// What this process may do.
  static func method() -> Method {
    unsafe access("/proc/sys/vm/drop_caches", W_OK) == 0 ? .dropAll : .adviseFiles
  }

  /// Brings everything to the disk, so that no run pays for what another one wrote.
  static func settle() { sync() }

  /// Empties the cache of what is below or at these paths, or of everything.
  static func drop(_ method: Method, paths: [String], token: CancellationToken) throws(Failure) {
    settle()
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
