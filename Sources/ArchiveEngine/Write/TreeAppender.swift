internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

extension ArchiveWriter {
  /// Appends a file, or a directory with everything in it.
  ///
  /// Symlinks are stored, not followed. Names are sorted by their bytes. What cannot be read is left out and reported.
  ///
  /// - Parameters:
  ///   - path: where it is, as raw bytes, relative to `directory` or absolute.
  ///   - archivePath: its path in the archive: relative, without "." or ".." components; "." is the archive's root.
  ///   - directory: an open directory; nil is the current one.
  ///   - excluding: archive paths that match are left out with all below them.
  public func appendTree(
    at path: [UInt8], as archivePath: [UInt8], in directory: Int32? = nil, excluding: [GlobPattern] = []
  ) throws(ArchiveError) {
    let base = directory ?? FileSystem.currentDirectory
    let status = try system(path: path) { () throws(SystemError) in try FileSystem.status(at: base, path) }
    let isDirectory = status.kind == .directory
    let (rootPath, name) = isDirectory ? (path, []) : Self.split(path)
    let root = try system(path: path) { () throws(SystemError) in
      try FileSystem.open(
        at: base, rootPath, isDirectory ? [.readOnly, .directory, .noFollow] : [.readOnly, .directory])
    }
    try appendTree(
      root: SharedDescriptor(root), name: name, rootName: path, as: archivePath, status: status, excluding: excluding)
  }

  /// Appends what lies behind an open descriptor of a directory: everything in it, and itself under `archivePath`.
  public func appendTree(
    directory: Int32, as archivePath: [UInt8], excluding: [GlobPattern] = []
  ) throws(ArchiveError) {
    try appendTree(directory: directory, as: archivePath, excluding: excluding, faults: nil)
  }

  func appendTree(
    directory: Int32, as archivePath: [UInt8], excluding: [GlobPattern], faults: ItemFaults?
  ) throws(ArchiveError) {
    let status = try system(path: archivePath) { () throws(SystemError) in try FileSystem.status(of: directory) }
    guard status.kind == .directory else {
      throw ArchiveError(.invalidArgument, "the descriptor is not that of a directory", path: archivePath)
    }
    let root = try system(path: archivePath) { () throws(SystemError) in try Descriptor.duplicate(of: directory) }
    try appendTree(
      root: SharedDescriptor(root), name: [], rootName: archivePath, as: archivePath, status: status,
      excluding: excluding, faults: faults)
  }

  private func appendTree(
    root: SharedDescriptor, name: [UInt8], rootName: [UInt8], as archivePath: [UInt8], status: FileStatus,
    excluding: [GlobPattern], faults: ItemFaults? = nil
  ) throws(ArchiveError) {
    try measurePlanning { () throws(ArchiveError) in
      try walk(
        root: root, name: name, rootName: rootName, as: archivePath, status: status, excluding: excluding,
        faults: faults)
    }
  }

  private func walk(
    root: SharedDescriptor, name: [UInt8], rootName: [UInt8], as archivePath: [UInt8], status: FileStatus,
    excluding: [GlobPattern], faults: ItemFaults?
  ) throws(ArchiveError) {
    try Self.check(archivePath: archivePath)
    let prefix = archivePath == [UInt8(ascii: ".")] ? [] : archivePath + [UInt8(ascii: "/")]
    let tree = SourceTree(
      root: root, name: rootName, includesExtendedAttributes: options.includesExtendedAttributes,
      prefixByteCount: prefix.count, faults: faults)
    if excluding.contains(where: { $0.matches(path: archivePath) }) { return }
    // "." may already be there from an earlier path; a second one would say the same.
    let isRootAgain = archivePath == [UInt8(ascii: ".")] && isClaimed(archivePath)
    if !isRootAgain, !isKnownEdge(archivePath, status) {
      try append(tree, path: name, status: status, as: archivePath, source: .tree(tree, path: name))
    }
    guard status.kind == .directory else { return }
    let isExcluded: (@Sendable ([UInt8]) -> Bool)? =
      excluding.isEmpty ? nil : { @Sendable path in excluding.contains { $0.matches(path: prefix + path) } }
    let walk = try system(path: rootName) { () throws(SystemError) in
      try TreeScan(
        root: root, staysOnFileSystem: options.staysOnFileSystem, laneCount: scanLaneCount, profile: options.profile,
        isExcluded: isExcluded)
    }
    while let step = walk.next() { try append(step, of: tree, below: prefix, rootDevice: status.device) }
  }

  /// Threads that look at directories ahead of the walk. Where contents are compressed one of them keeps up with a dozen lanes (measured on a
  /// Linux source tree, level 3); where nothing is written the walk is most of the work.
  private var scanLaneCount: Int {
    if options.isSerial { return 0 }
    return min(4, isPlanning ? options.laneCount : 1 + options.laneCount / 12)
  }

  private func append(
    _ step: WalkStep, of tree: SourceTree, below prefix: [UInt8], rootDevice: UInt64
  ) throws(ArchiveError) {
    try stop.check()
    switch step {
    case .failure(let error):
      leaveOut(tree, prefix + error.path, error.errno == ENOENT ? "vanished before it was read" : error.message)
    case .entry(let entry):
      let path = prefix + entry.relativePath
      if entry.status.device != rootDevice, isKnownEdge(path, entry.status) { return }
      try append(tree, path: entry.relativePath, status: entry.status, as: path, source: .below(tree))
    }
  }

  /// Whether this directory is in the archive under this name already, as the place where another tree begins or could not go on:
  /// a mount point that is named beside the tree around it belongs to both. It is known from now on.
  private func isKnownEdge(_ archivePath: [UInt8], _ status: FileStatus) -> Bool {
    guard options.staysOnFileSystem, status.kind == .directory else { return false }
    let hash = XXH3.hash64(archivePath.span)
    if let known = treeEdges[hash] { return known == (status.device, status.inode) }
    treeEdges[hash] = (status.device, status.inode)
    return false
  }

  /// Splits off the last component; slashes at the end belong to it.
  private static func split(_ path: [UInt8]) -> (directory: [UInt8], name: [UInt8]) {
    var end = path.count
    while end > 1, path[end - 1] == UInt8(ascii: "/") { end -= 1 }
    guard let slash = path[..<end].lastIndex(of: UInt8(ascii: "/")) else {
      return ([UInt8(ascii: ".")], Array(path[..<end]))
    }
    return (slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash]), Array(path[(slash + 1)..<end]))
  }

  /// Refuses archive paths that a reader would refuse or change.
  static func check(archivePath path: [UInt8]) throws(ArchiveError) {
    if path == [UInt8(ascii: ".")] { return }
    if path.contains(0) { throw ArchiveError(.invalidArgument, "a path in an archive cannot hold a NUL", path: path) }
    for component in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      if component.isEmpty || component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) {
        throw ArchiveError(
          .invalidArgument, "a path in an archive is relative and has no empty, \".\" or \"..\" component", path: path)
      }
    }
  }

  // MARK: One entry

  private func append(
    _ tree: SourceTree, path: [UInt8], status: FileStatus, as archivePath: [UInt8], source: PendingMember.Source
  ) throws(ArchiveError) {
    if status.device == outputIdentity?.device && status.inode == outputIdentity?.inode {
      return warn(archivePath, "is the archive itself; left out", isDegradation: false)
    }
    if let replacedFile, replacedFile.mayBe(status), try isReplaced(replacedFile, tree, path, archivePath) {
      return warn(archivePath, "is replaced by the archive; left out", isDegradation: false)
    }
    guard let kind = MemberKind(status.kind) else {
      return warn(archivePath, status.kind == .socket ? "is a socket; left out" : "is of an unknown type; left out")
    }
    var member = self.member(archivePath, kind, status)
    if tree.faults != nil, try !passes(&member, tree, path) { return }
    if kind != .directory && status.linkCount > 1 {
      if let first = try firstLink(tree, path, status, archivePath) {
        if first.isEmpty { return }
        member.kind = .hardlink
        member.linkTarget = first
        member.byteCount = 0
        try claim(archivePath, isDirectory: false)
        return try plan(PendingMember(member: member, source: source))
      }
    }
    if kind == .file, member.byteCount >= UInt64(largeByteCount) {
      return try appendLarge(tree, path, member, source, isReferenced: status.linkCount > 1)
    }
    try claim(archivePath, isDirectory: kind == .directory)
    try plan(
      PendingMember(
        member: member, source: source, isReferenced: kind == .file && status.linkCount > 1,
        mayHaveHoles: kind == .file && SparseMap.mayBeSparse(status)))
  }

  /// Whether an item may hold the member. A symlink's target is read for that; the lane that stores it reads it again.
  private func passes(_ member: inout Member, _ tree: SourceTree, _ path: [UInt8]) throws(ArchiveError) -> Bool {
    guard let rule = options.itemRule, member.kind != .file, member.kind != .directory else { return true }
    if member.kind == .symlink {
      do throws(SystemError) {
        let (parent, name) = try locate(tree, path)
        member.linkTarget = try FileSystem.readLink(at: parent, name)
      } catch {
        leaveOut(tree, member.path, error.errno == ENOENT ? "vanished before it was read" : error.message)
        return false
      }
    }
    switch rule(member) {
    case .take: return true
    case .leaveOut(let reason): warn(member.path, "\(reason); left out")
    case .refuse(let reason): leaveOut(tree, member.path, reason)
    }
    return false
  }

  private func isReplaced(
    _ file: ReplacedFile, _ tree: SourceTree, _ path: [UInt8], _ archivePath: [UInt8]
  ) throws(ArchiveError) -> Bool {
    try system(path: archivePath) { () throws(SystemError) in
      let (parent, name) = try locate(tree, path)
      return try file.isNamed(name, in: parent)
    }
  }

  /// Reports that something of a tree is not in the archive.
  private func leaveOut(_ tree: SourceTree, _ path: [UInt8], _ reason: String) {
    warn(path, "\(reason); left out")
    tree.faults?.note(path, "\(reason); left out")
  }

  /// Metadata as the walk knows it; lanes complete it.
  func member(_ path: [UInt8], _ kind: MemberKind, _ status: FileStatus) -> Member {
    var member = Member(
      path: path, kind: kind, mode: status.mode,
      modificationTime: Timestamp(seconds: status.modificationSeconds, nanoseconds: status.modificationNanoseconds))
    member.userID = UInt64(status.userID)
    member.groupID = UInt64(status.groupID)
    if !options.usesNumericOwners {
      member.ownerNames = SharedValue(
        MemberOwnerNames(user: owners.userName(status.userID), group: owners.groupName(status.groupID)))
    }
    if kind == .file { member.byteCount = UInt64(max(0, status.byteCount)) }
    if kind == .characterDevice || kind == .blockDevice {
      member.deviceMajor = status.deviceMajor
      member.deviceMinor = status.deviceMinor
    }
    return member
  }

  /// The archive path under which the inode is stored already; empty when the file cannot be read (which was reported); nil when
  /// it is now the first. A file that is to be the target of links is opened once before it becomes it.
  private func firstLink(
    _ tree: SourceTree, _ path: [UInt8], _ status: FileStatus, _ archivePath: [UInt8]
  ) throws(ArchiveError) -> [UInt8]? {
    if status.kind == .regular {
      do throws(SystemError) { _ = try openFile(tree, path) } catch {
        leaveOut(tree, archivePath, error.errno == ENOENT ? "vanished before it was read" : error.message)
        return []
      }
    }
    return try system(path: archivePath) { () throws(SystemError) in
      try hardLinks.path(of: status, orRemember: archivePath)
    }
  }

  private func openFile(_ tree: SourceTree, _ path: [UInt8]) throws(SystemError) -> Descriptor {
    let (parent, name) = try locate(tree, path)
    return try FileSystem.open(at: parent, name, [.readOnly, .noFollow, .nonBlocking])
  }

  /// The directory of a path, which is good until the next call, and the last component.
  private func locate(_ tree: SourceTree, _ path: [UInt8]) throws(SystemError) -> (parent: Int32, name: [UInt8]) {
    if plannerCursor?.tree !== tree { plannerCursor = (tree, DirectoryCursor(root: tree.root)) }
    let slash = path.lastIndex(of: UInt8(ascii: "/"))
    let parent = try plannerCursor?.cursor.descriptor(for: slash.map { path[..<$0] } ?? [][...]) ?? -1
    return (parent, slash.map { Array(path[($0 + 1)...]) } ?? path)
  }

  /// Opens a file that is large by its size and finds out what has to be stored of it: a sparse one may turn out small.
  private func appendLarge(
    _ tree: SourceTree, _ path: [UInt8], _ planned: Member, _ source: PendingMember.Source, isReferenced: Bool
  ) throws(ArchiveError) {
    var member = planned
    let archivePath = member.path
    let descriptor: SharedDescriptor
    let status: FileStatus
    do throws(SystemError) {
      descriptor = SharedDescriptor(try openFile(tree, path))
      status = try FileSystem.status(of: descriptor.rawValue)
      guard status.kind == .regular else { throw SystemError("openat", errno: ENOENT) }
      member.byteCount = UInt64(max(0, status.byteCount))
      member.mode = status.mode
      member.modificationTime = Timestamp(
        seconds: status.modificationSeconds, nanoseconds: status.modificationNanoseconds)
      if SparseMap.mayBeSparse(status) {
        member.sparseExtents = try SparseMap.extents(of: descriptor.rawValue, byteCount: member.byteCount)
      }
    } catch {
      return leaveOut(tree, archivePath, error.errno == ENOENT ? "vanished before it was read" : error.message)
    }
    try claim(archivePath, isDirectory: false)
    if member.storedByteCount < UInt64(largeByteCount) {
      return try plan(PendingMember(member: member, source: source, isReferenced: isReferenced))
    }
    if options.includesExtendedAttributes {
      let number = descriptor.rawValue
      SourceAttributes.read(
        into: &member, names: { () throws(SystemError) in try FileSystem.attributeNames(of: number) },
        value: { name throws(SystemError) in try FileSystem.attribute(of: number, name) },
        warn: { self.warn(archivePath, $0) })
    }
    FileSystem.advise(descriptor.rawValue, .sequential)
    try planLarge(member, descriptor, status, source: source, faults: tree.faults)
  }
}

extension MemberKind {
  /// nil for what archives do not hold: sockets.
  init?(_ kind: FileKind) {
    switch kind {
    case .regular: self = .file
    case .directory: self = .directory
    case .symlink: self = .symlink
    case .fifo: self = .fifo
    case .characterDevice: self = .characterDevice
    case .blockDevice: self = .blockDevice
    case .socket, .unknown: return nil
    }
  }
}
