internal import ArchiveIO

/// A directory of a walk, from when its name is known until the walk has been through it. It knows its own name only: a deep tree has few bytes of
/// names and many of paths.
///
/// Only who holds the lock of the ``ScanState`` touches what changes, but for `rest`, which belongs to whoever has taken the directory.
final class ScannedDirectory: @unchecked Sendable {
  /// What can be done with it.
  enum Phase {
    /// It is to be looked at.
    case waiting
    /// Some thread is looking at it.
    case taken
    /// All of it has been looked at.
    case finished
  }

  /// A step of the walk, and the directory that it is, if it is to be entered.
  struct Step {
    let entry: DirectoryEntry
    let directory: ScannedDirectory?
  }

  /// Changes only when nothing else refers to this any more.
  private var parent: ScannedDirectory?
  private let name: [UInt8]
  var phase = Phase.waiting
  /// It lies in the stack of what is to be looked at.
  var isStacked = false
  /// What was looked at and not walked through yet.
  var ready: [[Step]] = []
  /// Names that are left, once its first part has been looked at.
  var rest: DirectoryRest?

  /// The walk's root.
  init() {
    parent = nil
    name = []
  }

  init(_ name: [UInt8], in parent: ScannedDirectory) {
    self.parent = parent
    self.name = name
  }

  deinit {
    // One after the other, not each within the one below it: a thread that lets go of the last directory of a deep tree has a small stack.
    var above = parent.take()
    while above != nil, isKnownUniquelyReferenced(&above) { above = above?.parent.take() }
  }

  /// The path from the walk's root, "" for that itself.
  var path: [UInt8] {
    var names: [[UInt8]] = []
    var (directory, byteCount) = (self, 0)
    while let parent = directory.parent {
      names.append(directory.name)
      byteCount += directory.name.count + 1
      directory = parent
    }
    var path: [UInt8] = []
    path.reserveCapacity(byteCount)
    for name in names.reversed() {
      if !path.isEmpty { path.append(0x2F) }
      path.append(contentsOf: name)
    }
    return path
  }
}
