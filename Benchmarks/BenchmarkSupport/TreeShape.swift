internal import ArchiveIO

/// The directories, files and links of a tree, without their content.
final class TreeShape: Sendable {
  enum Content: Sendable {
    case file(byteCount: Int64)
    case symlink(target: [UInt8])
  }

  struct Directory: Sendable {
    let name: [UInt8]
    var inner: [Int] = []
    var leaves: [(name: [UInt8], content: Content)] = []
  }

  /// The first is the tree itself.
  let directories: [Directory]
  let fileCount: Int
  let byteCount: UInt64

  init(of path: String) throws {
    let root = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.readOnly, .directory])
    let walker = try DirectoryWalker(root: SharedDescriptor(root))
    var directories = [Directory(name: [])]
    var numbers: [[UInt8]: Int] = [[]: 0]
    var fileCount = 0
    var byteCount: UInt64 = 0
    while let step = walker.next() {
      let entry: WalkEntry
      switch step {
      case .failure(let error): throw error
      case .entry(let found): entry = found
      }
      let parentPath = Array(entry.relativePath[..<max(0, entry.nameOffset - 1)])
      guard let parent = numbers[parentPath] else { continue }
      switch entry.status.kind {
      case .directory:
        numbers[entry.relativePath] = directories.count
        directories[parent].inner.append(directories.count)
        directories.append(Directory(name: entry.name))
      case .regular:
        fileCount += 1
        byteCount += UInt64(max(0, entry.status.byteCount))
        directories[parent].leaves.append((entry.name, .file(byteCount: entry.status.byteCount)))
      case .symlink:
        let target = try FileSystem.readLink(at: walker.directoryDescriptor, entry.name)
        directories[parent].leaves.append((entry.name, .symlink(target: target)))
      default: break
      }
    }
    self.directories = directories
    self.fileCount = fileCount
    self.byteCount = byteCount
  }
}
