internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

/// A quick look at what is to be archived, so that progress has a total.
struct SourceScan {
  private struct Inode: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// Sum of the sizes of all regular files, each inode once.
  private(set) var byteCount: UInt64 = 0
  private var linked: Set<Inode> = []

  /// Adds a path with all that is below it. What cannot be read is reported later, when it is archived.
  mutating func add(
    _ source: SourcePath, in directory: Int32, excluding: [GlobPattern], staysOnFileSystem: Bool,
    token: CancellationToken
  ) throws(Failure) {
    guard let status = try? FileSystem.status(at: directory, source.path) else { return }
    if excluding.contains(where: { $0.matches(path: source.archivePath) }) { return }
    add(status)
    guard status.kind == .directory,
      let root = try? FileSystem.open(at: directory, source.path, [.readOnly, .directory, .noFollow]),
      let walker = try? DirectoryWalker(root: SharedDescriptor(root), oneFileSystem: staysOnFileSystem)
    else { return }
    let prefix = source.archivePath == [0x2E] ? [] : source.archivePath + [0x2F]
    while let step = walker.next() {
      if token.isCancelled { throw .cancelled }
      guard case .entry(let entry) = step else { continue }
      if !excluding.isEmpty, excluding.contains(where: { $0.matches(path: prefix + entry.relativePath) }) {
        walker.skipSubtree()
        continue
      }
      add(entry.status)
    }
  }

  private mutating func add(_ status: FileStatus) {
    guard status.kind == .regular else { return }
    if status.linkCount > 1, !linked.insert(Inode(device: status.device, inode: status.inode)).inserted { return }
    byteCount = byteCount.addingReportingOverflow(UInt64(max(0, status.byteCount))).partialValue
  }
}
