internal import CLinuxShims
internal import Glibc

/// Finds directories below a root by their paths, one component after the other, and keeps the last ones open.
///
/// No symlink is ever followed: a component that is one fails with `ENOTDIR`. `..` is refused. Paths have no limit in
/// length or depth. A cursor is used by one thread at a time; each lane has its own.
package final class DirectoryCursor {
  private var stack: DirectoryStack
  /// The path to the deepest open directory, as it was asked for.
  private var place: [UInt8] = []
  /// Where each component ends in `place`.
  private var ends: [Int] = []
  /// Whether `place` was found to its end.
  private var isComplete = true

  /// A cursor that keeps at most so many descriptors besides the root's.
  package init(root: SharedDescriptor, maximumOpenDescriptors: Int = 8) {
    stack = DirectoryStack(root: root, flags: .path, maximumHeld: maximumOpenDescriptors)
  }

  /// The descriptor of a directory, given as "a/b/c"; "" and "." are the root. It is valid until the next call.
  ///
  /// It is an `O_PATH` descriptor: good for all `…at` calls and ``FileSystem/status(of:)``, not for reading the
  /// directory or for changing its own attributes; for those open "." in it, or name it from its parent.
  /// With `createMissing` components that do not exist are made with that mode. Fails with `ENOTDIR` for a symlink.
  package func descriptor(
    for path: ArraySlice<UInt8>, createMissing: UInt32? = nil
  ) throws(SystemError) -> Int32 {
    let common = commonPrefix(path)
    if isComplete, common == path.count, common == place.count { return stack.top }
    isComplete = false
    try walk(path, common, createMissing)
    isComplete = true
    return stack.top
  }

  /// Forgets everything: the next call starts at the root.
  package func forget() { truncate(to: 0) }

  /// To be called after the name `path` (of any kind) was removed, replaced or renamed: it and what lies below it will
  /// be looked up again.
  package func invalidate(_ path: ArraySlice<UInt8>) {
    // Component by component: the path may be spelled in another way than the one asked for. Dots at the beginning are
    // not compared, which at worst looks up too much again.
    var components = PathComponents(path)
    var count = 0
    while let component = components.next() {
      if count == ends.count { return }
      let start = count == 0 ? 0 : ends[count - 1]
      let own = place[start..<ends[count]].drop { $0 == 0x2F || $0 == 0x2E }
      let other = path[component].drop { $0 == 0x2E }
      if own != other { return }
      count += 1
    }
    truncate(to: max(count - 1, 0))
  }

  private func truncate(to count: Int) {
    // The level may have been given up; then the search starts further up.
    stack.drop(to: stack.deepestHeld(atMost: count))
    cutPlace()
  }

  private func cutPlace() {
    ends.removeSubrange(stack.depth...)
    place.removeSubrange((ends.last ?? 0)...)
    isComplete = false
  }

  /// How many leading bytes `path` has in common with the place where the cursor is.
  private func commonPrefix(_ path: ArraySlice<UInt8>) -> Int {
    unsafe path.withUnsafeBytes { new in
      unsafe place.withUnsafeBytes { old in
        guard let left = new.baseAddress, let right = old.baseAddress else { return 0 }
        var equal = 0
        var tested = min(new.count, old.count)
        // Nearly always all of the shorter one is equal; else the end is found by halving.
        var unequal = tested + 1
        while equal + 1 < unequal {
          if unsafe memcmp(left + equal, right + equal, tested - equal) == 0 {
            equal = tested
          } else {
            unequal = tested
          }
          tested = equal + max((unequal - equal) / 2, 1)
        }
        return equal
      }
    }
  }

  private func walk(_ path: ArraySlice<UInt8>, _ common: Int, _ createMissing: UInt32?) throws(SystemError) {
    // Levels whose component ends within the common bytes, and in `path` as well.
    var count = ends.partitioningIndex { $0 > common }
    if count > 0, ends[count - 1] < path.count, path[path.startIndex + ends[count - 1]] != 0x2F { count -= 1 }
    goUp(to: count)
    var components = PathComponents(path[(path.startIndex + (ends.last ?? 0))...])
    while let component = components.next() {
      let name = path[component]
      let partial = path[path.startIndex..<component.upperBound]
      if name.elementsEqual([0x2E, 0x2E]) { throw SystemError("openat", errno: EINVAL, path: Array(partial)) }
      var result = enter(name)
      if result == Int64(-ENOENT), let mode = createMissing {
        do throws(SystemError) {
          try FileSystem.makeDirectory(at: stack.top, Array(name), mode: mode)
        } catch {
          // Another lane may have been faster.
          if error.errno != EEXIST { throw SystemError(error.call, errno: error.errno, path: Array(partial)) }
        }
        result = enter(name)
      }
      if result < 0 { throw SystemError("openat", errno: Int32(truncatingIfNeeded: -result), path: Array(partial)) }
      place.append(contentsOf: path[(path.startIndex + place.count)..<component.upperBound])
      ends.append(place.count)
    }
    // Separators at the end, so that the same spelling is found again at once.
    place.append(contentsOf: path[(path.startIndex + place.count)...])
  }

  private func enter(_ name: ArraySlice<UInt8>) -> Int64 {
    unsafe name.withUnsafeBytes { bytes in unsafe withTerminated(bytes) { unsafe stack.descend($0) } }
  }

  /// Goes up to `count` components, or to a directory above where that is closer or the way back is lost.
  private func goUp(to count: Int) {
    let held = stack.deepestHeld(atMost: count)
    if stack.depth - count > count - held {
      // Descending again takes fewer steps than climbing.
      stack.drop(to: held)
    } else {
      _ = stack.ascend(to: count)
    }
    cutPlace()
  }
}

extension [Int] {
  /// The first index, of a sorted array, whose element fulfils a condition that all later ones fulfil too.
  fileprivate func partitioningIndex(_ isAfter: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The components of a path; empty ones and "." are left out.
struct PathComponents {
  private let path: ArraySlice<UInt8>
  private var position: Int

  init(_ path: ArraySlice<UInt8>) {
    self.path = path
    position = path.startIndex
  }

  /// The range of the next component.
  mutating func next() -> Range<Int>? {
    while position < path.endIndex {
      let start = position
      while position < path.endIndex, path[position] != 0x2F { position += 1 }
      let end = position
      if position < path.endIndex { position += 1 }
      if end == start || (end == start + 1 && path[start] == 0x2E) { continue }
      return start..<end
    }
    return nil
  }
}
