internal import ArchiveIO
internal import CommandLineTool

/// A directory of the run's own, which goes with it.
final class Scratch {
  /// Its absolute path.
  let path: String
  private let parent: String
  private let name: String

  /// Makes it.
  init(in parent: String) throws(Failure) {
    self.parent = parent
    name = "archive-benchmark-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    path = parent + "/" + name
    try Self.makeDirectory(path)
  }

  deinit { try? Self.remove(name, in: parent) }

  /// The path of something in it.
  func file(_ name: String) -> String { path + "/" + name }

  /// Removes what has this name in it, if there is anything.
  func remove(_ name: String) throws(Failure) { try Self.remove(name, in: path) }

  /// Makes a directory.
  static func makeDirectory(_ path: String) throws(Failure) {
    let bytes = Array(path.utf8)
    try system(about: bytes) { () throws(SystemError) in
      try FileSystem.makeDirectory(at: FileSystem.currentDirectory, bytes, mode: 0o755)
    }
  }

  private static func remove(_ name: String, in parent: String) throws(Failure) {
    let bytes = Array(name.utf8)
    try system(about: Array(parent.utf8)) { () throws(SystemError) in
      let top = try FileSystem.open(at: FileSystem.currentDirectory, Array(parent.utf8), [.readOnly, .directory])
      do throws(SystemError) {
        _ = try FileSystem.status(at: top.rawValue, bytes)
      } catch {
        if error.isNotFound { return }
        throw error
      }
      try RemoveTree.remove(at: top.rawValue, bytes, isParallel: true)
    }
  }
}
