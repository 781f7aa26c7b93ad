internal import CLinuxShims
internal import Dispatch
internal import Glibc

/// Removes a tree with several threads, as far as that goes without trouble; ``RemoveTree`` removes the rest.
///
/// A run that is cancelled has to be over soon, and the removal of what it made is most of that time. The kernel removes
/// names of different directories at the same time, and frees the files of one directory at the same time. Whatever
/// fails here is left as it is: the thorough removal comes across it and reports it.
package final class ParallelRemoval: Sendable {
  /// A directory whose entries are being removed.
  private final class Node: Sendable {
    let parent: Node?
    let directory: SharedDescriptor
    let name: [UInt8]
    /// NUL-terminated names with their types.
    let entries: [DirectoryList.Entry]
    let names: [UInt8]

    init(parent: Node?, directory: SharedDescriptor, name: [UInt8], _ list: borrowing DirectoryList) {
      self.parent = parent
      self.directory = directory
      self.name = name
      entries = list.entries
      names = list.names
    }
  }

  /// What is known of a directory while it is open.
  private struct Progress {
    /// Entries that a thread has taken, or removed.
    var taken = 0
    /// Stretches of entries that threads are at, and directories below that are not removed yet.
    var outstanding = 0
  }

  private struct State {
    /// Directories with entries that nobody has taken, the deepest last: few are open at the same time.
    var stack: [Node] = []
    var progress: [ObjectIdentifier: Progress] = [:]
    var waiting = 0
    var isDone = false
  }

  /// Some entries of a directory that one thread removes.
  private struct Stretch {
    let node: Node
    let range: Range<Int>
  }

  private static let directoryType: UInt8 = 4
  /// Files that a thread takes at once: enough that the lock costs nothing, few enough that all end together.
  private static let stretchCount = 64
  /// Directories open at the same time; others are removed by one thread, which needs few descriptors.
  private static let maximumOpen = 24
  /// Threads beyond this do not help: they wait for the same locks in the kernel.
  private static let maximumThreads = 8
  private static let bufferByteCount = 64 << 10

  private let root: SharedDescriptor
  private let state = Locked(State())
  private let wake = DispatchSemaphore(value: 0)

  private init(root: SharedDescriptor) { self.root = root }

  /// Removes what can be removed of the tree with this name, which is a directory and no link.
  package static func remove(at directory: Int32, _ name: [UInt8], threadCount: Int = ProcessFacts.availableCores) {
    guard let root = try? FileSystem.open(at: directory, [0x2E], [.path, .directory]) else { return }
    let removal = ParallelRemoval(root: SharedDescriptor(root))
    guard var list = try? DirectoryList(bufferByteCount: bufferByteCount) else { return }
    removal.enter(nil, name, &list)
    guard !removal.state.withLock({ $0.stack.isEmpty }) else { return }
    let group = DispatchGroup()
    for number in 1..<max(2, min(threadCount, maximumThreads)) where threadCount > 1 {
      DispatchQueue(label: "archive-removal.\(number)").async(group: group) {
        guard var list = try? DirectoryList(bufferByteCount: bufferByteCount) else { return }
        removal.work(&list)
      }
    }
    removal.work(&list)
    group.wait()
  }

  /// What one thread does. Each has a list of its own, into which it reads directories.
  private func work(_ list: inout DirectoryList) {
    while let stretch = next() {
      for index in stretch.range { remove(stretch.node, index, &list) }
      end(of: stretch.node)
    }
  }

  /// The next entries to be removed; waits while others may still come across some. Nil when all is done.
  private func next() -> Stretch? {
    while true {
      let (stretch, mustWait) = state.withLock { state -> (Stretch?, Bool) in
        guard let node = state.stack.last else {
          if state.isDone { return (nil, false) }
          state.waiting += 1
          return (nil, true)
        }
        let start = state.progress[ObjectIdentifier(node)]?.taken ?? 0
        // One directory at once, so that the others stay for other threads.
        var end = start + 1
        if node.entries[start].type != Self.directoryType {
          let limit = min(start + Self.stretchCount, node.entries.count)
          while end < limit, node.entries[end].type != Self.directoryType { end += 1 }
        }
        state.progress[ObjectIdentifier(node)]?.taken = end
        state.progress[ObjectIdentifier(node)]?.outstanding += 1
        if end == node.entries.count { state.stack.removeLast() }
        return (Stretch(node: node, range: start..<end), false)
      }
      if let stretch { return stretch }
      if !mustWait { return nil }
      wake.wait()
    }
  }

  private func remove(_ node: Node, _ index: Int, _ list: inout DirectoryList) {
    let entry = node.entries[index]
    if entry.type == Self.directoryType {
      let name = node.names[Int(entry.nameOffset)...].prefix { $0 != 0 }
      return enter(node, Array(name), &list)
    }
    _ = unsafe node.names.withUnsafeBufferPointer { names in
      unsafe names.withMemoryRebound(to: CChar.self) { characters in
        // Safe: a directory with an entry has the bytes of its name.
        unsafe starc_unlinkat(
          node.directory.rawValue, characters.baseAddress.unsafelyUnwrapped + Int(entry.nameOffset), 0)
      }
    }
  }

  /// Opens a directory and offers its entries, or removes it here and now.
  private func enter(_ parent: Node?, _ name: [UInt8], _ list: inout DirectoryList) {
    let place = parent?.directory ?? root
    guard state.withLock({ $0.progress.count < Self.maximumOpen }) else {
      try? RemoveTree.remove(at: place.rawValue, name)
      return
    }
    guard let opened = try? FileSystem.open(at: place.rawValue, name, [.readOnly, .directory, .noFollow])
    else { return }
    list.removeAll(from: 0)
    let directory = SharedDescriptor(opened)
    guard (try? list.read(directory.rawValue)) != nil else { return }
    if list.entries.isEmpty {
      try? FileSystem.removeDirectory(at: place.rawValue, name)
      return
    }
    let node = Node(parent: parent, directory: directory, name: name, list)
    let waiting = state.withLock { state in
      if let parent { state.progress[ObjectIdentifier(parent)]?.outstanding += 1 }
      state.progress[ObjectIdentifier(node)] = Progress()
      state.stack.append(node)
      defer { state.waiting = 0 }
      return state.waiting
    }
    for _ in 0..<waiting { wake.signal() }
  }

  /// A stretch is removed. Directories that are empty by that are removed as well, upwards.
  private func end(of node: Node) {
    var current: Node? = node
    while let node = current {
      let isEmpty = state.withLock { state in
        guard var progress = state.progress[ObjectIdentifier(node)] else { return false }
        progress.outstanding -= 1
        state.progress[ObjectIdentifier(node)] = progress
        guard progress.outstanding == 0, progress.taken == node.entries.count else { return false }
        state.progress[ObjectIdentifier(node)] = nil
        return true
      }
      guard isEmpty else { return }
      try? FileSystem.removeDirectory(at: (node.parent?.directory ?? root).rawValue, node.name)
      current = node.parent
    }
    // The top of the tree is done.
    let waiting = state.withLock { state in
      state.isDone = true
      defer { state.waiting = 0 }
      return state.waiting
    }
    for _ in 0..<waiting { wake.signal() }
  }
}
