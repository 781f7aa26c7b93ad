internal import ArchiveEngine
internal import ArchiveIO
internal import CMigrationShims
internal import Glibc

/// The decision about each item of an unpacked tree.
struct Admission {
  private struct FileNumber: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  private let root: SharedDescriptor
  private let owner: (UInt32, UInt32)?
  private(set) var summary = StagedTree.Summary(items: 0, bytes: 0)
  private var seen: Set<FileNumber> = []
  /// Links that the shape of their target does not decide.
  private var doubtful: [[UInt8]] = []
  /// Whether this process has been refused to give files away.
  private var mayChangeOwner = true

  init(root: SharedDescriptor, owner: (UInt32, UInt32)?) {
    self.root = root
    self.owner = owner
  }

  /// Checks and changes one item that lies in an open directory.
  mutating func admit(_ entry: WalkEntry, in directory: Int32) throws(MigrationError) {
    let status = entry.status
    switch status.kind {
    case .directory, .regular: break
    case .symlink: try checkLink(entry, directory)
    case .fifo: throw refusal(entry, "a FIFO")
    case .socket: throw refusal(entry, "a socket")
    case .characterDevice, .blockDevice: throw refusal(entry, "a device")
    case .unknown: throw refusal(entry, "a file of an unknown kind")
    }
    do throws(SystemError) {
      // The owner first: to change it takes rights away, and what may be done afterwards does not depend on it.
      let isGiven = try setOwner(entry, directory)
      if status.kind != .symlink {
        let mode = (status.mode & 0o777) | (status.kind == .directory ? 0o700 : 0o600)
        if mode != status.mode || (isGiven && status.mode & 0o7000 != 0) {
          try FileSystem.setMode(at: directory, entry.name, mode)
        }
      }
      try removeAttributes(entry, directory)
    } catch {
      throw StagedTree.failure(entry.relativePath, error)
    }
    summary.items += 1
    if status.kind == .regular, status.linkCount == 1 || isNew(status) { summary.bytes += status.byteCount }
  }

  private mutating func isNew(_ status: FileStatus) -> Bool {
    seen.insert(FileNumber(device: status.device, inode: status.inode)).inserted
  }

  private mutating func setOwner(_ entry: WalkEntry, _ directory: Int32) throws(SystemError) -> Bool {
    guard mayChangeOwner, let (user, group) = owner else { return false }
    if entry.status.userID == user && entry.status.groupID == group { return false }
    do throws(SystemError) {
      try FileSystem.setOwner(at: directory, entry.name, userID: user, groupID: group)
      return true
    } catch {
      if error.errno != EPERM { throw error }
      mayChangeOwner = false
      return false
    }
  }

  private func removeAttributes(_ entry: WalkEntry, _ directory: Int32) throws(SystemError) {
    for attribute in try FileSystem.attributeNames(at: directory, entry.name) {
      guard attribute.starts(with: "security.".utf8) || attribute.starts(with: "trusted.".utf8) else { continue }
      // The directory by its descriptor, the last component not followed: there is no call with a descriptor and a name.
      let path = Array("/proc/self/fd/\(directory)/".utf8) + entry.name
      let result = unsafe Self.withTerminated(path) { path in
        unsafe Self.withTerminated(attribute) { unsafe amk_remove_attribute(path, $0) }
      }
      if result == 0 || result == -Int64(ENODATA) { continue }
      // Labels that the kernel itself gives to every file cannot be taken away, and give no rights.
      if Self.labels.contains(attribute) { continue }
      throw SystemError("removexattr", errno: Int32(-result), path: attribute)
    }
  }

  private static let labels = Set(
    ["security.selinux", "security.SMACK64", "security.ima", "security.evm"].map { Array($0.utf8) })

  private mutating func checkLink(_ entry: WalkEntry, _ directory: Int32) throws(MigrationError) {
    let target: [UInt8]
    do throws(SystemError) { target = try FileSystem.readLink(at: directory, entry.name) } catch {
      throw StagedTree.failure(entry.relativePath, error)
    }
    switch LinkRule.judge(target, depth: entry.relativePath.count { $0 == 0x2F }) {
    case .inside: break
    case .doubtful: doubtful.append(entry.relativePath)
    case .outside: throw escape(entry.relativePath)
    }
  }

  /// Lets the kernel follow those links of which nothing else tells where they lead.
  func checkDoubtfulLinks() throws(MigrationError) {
    for path in doubtful {
      let result = unsafe Self.withTerminated(path) { unsafe amk_open_beneath(root.rawValue, $0) }
      if result < 0 { throw escape(path) }
      _ = Descriptor(adopting: Int32(truncatingIfNeeded: result))
    }
  }

  private func escape(_ path: [UInt8]) -> MigrationError {
    MigrationError(
      .archive,
      "the archive holds the symlink \"\(PathText.printable(path))\", which leads, or may lead, out of the imported files"
    )
  }

  private func refusal(_ entry: WalkEntry, _ kind: String) -> MigrationError {
    MigrationError(
      .archive,
      "the archive holds \(kind), \"\(PathText.printable(entry.relativePath))\"; only files, directories and links may arrive"
    )
  }

  private static func withTerminated(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Int64) -> Int64 {
    unsafe (bytes + [0]).withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return -Int64(EINVAL) }
      return unsafe body(base.assumingMemoryBound(to: CChar.self))
    }
  }
}
