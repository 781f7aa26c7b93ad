internal import ArchiveIO

/// Makes a tree of a given shape; any number of threads.
final class TreeWriter: Sendable {
  enum Task: Sendable {
    case directory(SharedDescriptor?, name: [UInt8], index: Int)
    case leaves(SharedDescriptor, index: Int, Range<Int>)
    case piece(SharedDescriptor, offset: Int64, byteCount: Int)
  }

  private static let leafCount = 64
  private let tree: TreeShape
  /// What files are filled with.
  private let content: Buffer

  init(_ tree: TreeShape) throws {
    self.tree = tree
    content = try Buffer(byteCount: 1 << 20)
    unsafe content.bytes.initializeMemory(as: UInt8.self, repeating: 0x5A)
  }

  func perform(_ task: Task, _ pool: WorkPool<Task>) throws {
    switch task {
    case .directory(let parent, let name, let index): try make(index, name, in: parent, pool)
    case .leaves(let directory, let index, let range):
      for leaf in tree.directories[index].leaves[range] { try make(leaf.name, leaf.content, in: directory, pool) }
    case .piece(let file, let offset, let byteCount):
      try unsafe FileSystem.pwrite(
        file.rawValue, UnsafeRawBufferPointer(rebasing: content.bytes[..<byteCount]), at: offset)
    }
  }

  private func make(_ index: Int, _ name: [UInt8], in parent: SharedDescriptor?, _ pool: WorkPool<Task>) throws {
    let place = parent?.rawValue ?? FileSystem.currentDirectory
    try FileSystem.makeDirectory(at: place, name, mode: 0o755)
    let directory = tree.directories[index]
    if directory.inner.isEmpty && directory.leaves.isEmpty { return }
    let descriptor = SharedDescriptor(try FileSystem.open(at: place, name, [.readOnly, .directory]))
    var tasks: [Task] = stride(from: 0, to: directory.leaves.count, by: Self.leafCount).map {
      .leaves(descriptor, index: index, $0..<min($0 + Self.leafCount, directory.leaves.count))
    }
    tasks += directory.inner.map { .directory(descriptor, name: tree.directories[$0].name, index: $0) }
    pool.add(tasks)
  }

  private func make(
    _ name: [UInt8], _ leaf: TreeShape.Content, in directory: SharedDescriptor, _ pool: WorkPool<Task>
  ) throws {
    switch leaf {
    case .symlink(let target): try FileSystem.makeSymlink(to: target, at: directory.rawValue, name)
    case .file(let byteCount):
      let file = try FileSystem.open(
        at: directory.rawValue, name, [.writeOnly, .create, .exclusive], mode: 0o644)
      let count = Int(min(byteCount, Int64(content.byteCount)))
      if count > 0 {
        try unsafe FileSystem.write(file.rawValue, UnsafeRawBufferPointer(rebasing: content.bytes[..<count]))
      }
      guard byteCount > count else { return try file.close() }
      let shared = SharedDescriptor(file)
      pool.add(
        stride(from: Int64(count), to: byteCount, by: content.byteCount).map {
          .piece(shared, offset: $0, byteCount: Int(min(Int64(content.byteCount), byteCount - $0)))
        })
    }
  }
}
