internal import CLinuxShims
internal import Glibc

/// Finds directories below a root by their paths, one component after the other, and keeps the last ones open.
///
/// No symlink is ever followed: a component that is one fails with `ENOTDIR`. `..` is refused. Paths have no limit in
/// length or depth. A cursor is used by one thread at a time; each lane has its own.
package final class DirectoryCursor {
  private var stack: DirectoryStack
  /// The components down to the deepest directory, without separators.
  private var names: [UInt8] = []
  /// Where each component ends in `names`.
  private var ends: [Int] = []
  /// The path asked for last, if it was found.
  private var lastPath: [UInt8] = []
  private var lastIsValid = true

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
    if lastIsValid, isLast(path) { return stack.top }
    lastIsValid = false
    try walk(path, createMissing)
    lastPath.removeAll(keepingCapacity: true)
    lastPath.append(contentsOf: path)
    lastIsValid = true
    return stack.top
  }

  /// Forgets everything: the next call starts at the root.
  package func forget() { truncate(to: 0) }

  /// To be called after the name `path` (of any kind) was removed, replaced or renamed: it and what lies below it will
  /// be looked up again.
  package func invalidate(_ path: ArraySlice<UInt8>) {
    let (count, isWhole) = commonComponents(path)
    if isWhole { truncate(to: max(count - 1, 0)) }
  }

  private func truncate(to count: Int) {
    // The level above may have been given up; then the search starts further up.
    let held = stack.deepestHeld(atMost: count)
    stack.drop(to: held)
    cutNames(to: held)
    lastIsValid = false
  }

  private func cutNames(to count: Int) {
    ends.removeSubrange(count...)
    names.removeSubrange((ends.last ?? 0)...)
  }

  private func isLast(_ path: ArraySlice<UInt8>) -> Bool {
    if path.count != lastPath.count { return false }
    return unsafe path.withUnsafeBytes { new in
      unsafe lastPath.withUnsafeBytes { old in
        guard let left = new.baseAddress, let right = old.baseAddress else { return true }
        return unsafe memcmp(left, right, new.count) == 0
      }
    }
  }

  /// How many leading components of `path` lead along the directories where the cursor is, and whether that is all.
  private func commonComponents(_ path: ArraySlice<UInt8>) -> (count: Int, isWhole: Bool) {
    var count = 0
    var components = PathComponents(path)
    while let component = components.next() {
      if count == ends.count || !isName(count, path[component]) { return (count, false) }
      count += 1
    }
    return (count, true)
  }

  private func isName(_ index: Int, _ component: ArraySlice<UInt8>) -> Bool {
    let start = index == 0 ? 0 : ends[index - 1]
    return ends[index] - start == component.count && names[start..<ends[index]].elementsEqual(component)
  }

  private func walk(_ path: ArraySlice<UInt8>, _ createMissing: UInt32?) throws(SystemError) {
    let common = commonComponents(path).count
    goUp(to: common)
    var skipped = ends.count
    var components = PathComponents(path)
    while let component = components.next() {
      if skipped > 0 {
        skipped -= 1
        continue
      }
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
      _ = try checked("openat", result, Array(partial))
      names.append(contentsOf: name)
      ends.append(names.count)
    }
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
    cutNames(to: stack.depth)
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
