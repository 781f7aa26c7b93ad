internal import CLinuxShims
internal import Glibc

/// The open directories on the way from a root to where a walk is, with a bounded number of descriptors.
///
/// The root is never closed. Of the others the deepest are kept; one that was closed is opened again through the `..`
/// of the directory below it and must then be the same inode of the same device. Nothing recurses, so the depth is
/// bounded by memory alone (24 bytes a level).
@safe
struct DirectoryStack: ~Copyable {
  private struct Level {
    var descriptor: Int32
    /// Set when the descriptor is given up.
    var device: UInt64 = 0
    var inode: UInt64 = 0
  }

  private let root: SharedDescriptor
  private let flags: OpenFlags
  private let maximumHeld: Int
  /// Levels below the root.
  private var levels: [Level] = []
  /// All levels below this index have given up their descriptors, or are held again after going up.
  private var lowestHeld = 0
  private var heldCount = 0

  /// `flags` are those for opening directories: `.readOnly` or `.path`.
  init(root: SharedDescriptor, flags: OpenFlags, maximumHeld: Int) {
    self.root = root
    self.flags = flags.union([.directory, .noFollow])
    self.maximumHeld = max(maximumHeld, 2)
  }

  deinit {
    for level in levels where level.descriptor >= 0 { _ = starc_close(level.descriptor) }
  }

  /// The number of levels below the root.
  var depth: Int { levels.count }

  /// The deepest directory.
  var top: Int32 { levels.last?.descriptor ?? root.rawValue }

  /// Opens a directory in the deepest one and goes there. Returns 0 or the negated errno, and then stays.
  mutating func descend(_ name: UnsafePointer<CChar>) -> Int64 {
    let result = unsafe starc_openat(top, name, flags.rawValue, 0)
    if result < 0 { return result }
    if heldCount >= maximumHeld { giveUpLowest() }
    levels.append(Level(descriptor: Int32(truncatingIfNeeded: result)))
    heldCount += 1
    return 0
  }

  /// Goes up to `depth` levels. Returns false if a directory on the way is no longer above the one below it, or cannot
  /// be opened: the stack is then at a smaller depth that was held, and the caller descends again by names.
  mutating func ascend(to depth: Int) -> Bool {
    while levels.count > depth {
      let parent = levels.count - 2
      // A held target needs no steps in between.
      if depth == 0 || levels[depth - 1].descriptor >= 0 {
        drop(to: depth)
        return true
      }
      if levels[parent].descriptor < 0 {
        guard let descriptor = reopen(levels[parent]) else {
          drop(to: deepestHeld(atMost: depth))
          return false
        }
        levels[parent].descriptor = descriptor
        lowestHeld = min(lowestHeld, parent)
        heldCount += 1
      }
      drop(to: parent + 1)
    }
    return true
  }

  /// The deepest level at or above `depth` whose descriptor is held; 0 is the root.
  func deepestHeld(atMost depth: Int) -> Int {
    var depth = min(depth, levels.count)
    while depth > 0, levels[depth - 1].descriptor < 0 { depth -= 1 }
    return depth
  }

  /// Goes up to a level that is held.
  mutating func drop(to depth: Int) {
    while levels.count > depth, let level = levels.popLast() {
      if level.descriptor >= 0 {
        _ = starc_close(level.descriptor)
        heldCount -= 1
      }
    }
    lowestHeld = min(lowestHeld, levels.count)
  }

  private func reopen(_ level: Level) -> Int32? {
    let result = unsafe starc_openat(top, "..", flags.rawValue, 0)
    if result < 0 { return nil }
    let descriptor = Int32(truncatingIfNeeded: result)
    if level.inode != 0 || level.device != 0, let status = try? FileSystem.status(of: descriptor),
      status.inode == level.inode, status.device == level.device
    {
      return descriptor
    }
    _ = starc_close(descriptor)
    return nil
  }

  private mutating func giveUpLowest() {
    while lowestHeld < levels.count, levels[lowestHeld].descriptor < 0 { lowestHeld += 1 }
    guard lowestHeld < levels.count else { return }
    let descriptor = levels[lowestHeld].descriptor
    // Without an identity the level counts as lost and is found by names.
    if let status = try? FileSystem.status(of: descriptor) {
      levels[lowestHeld].device = status.device
      levels[lowestHeld].inode = status.inode
    }
    levels[lowestHeld].descriptor = -1
    _ = starc_close(descriptor)
    heldCount -= 1
    lowestHeld += 1
  }
}
