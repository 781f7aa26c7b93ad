public import ArchiveFormat
internal import ArchiveIO

/// What became of an item that shall be whole or not at all.
public enum ItemOutcome: Sendable {
  /// All of it is captured.
  case complete
  /// Nothing of it is in the archive.
  case refused(ArchiveError)
  /// Some of it is in the archive and counts as withdrawn: its names are free again.
  case partial(ArchiveError)
}

/// What readers that want whole items only have to leave out.
public struct WithdrawnMembers: Sendable {
  /// Archive paths: what is there and below.
  public var prefixes: [[UInt8]]
  /// XXH3-64 of the paths of single members.
  public var pathHashes: [UInt64]

  /// Makes a list.
  public init(prefixes: [[UInt8]] = [], pathHashes: [UInt64] = []) {
    self.prefixes = prefixes
    self.pathHashes = pathHashes
  }
}

extension ArchiveWriter {
  /// Appends what lies behind an open descriptor, a file or a directory with everything in it, and returns when every byte of it was read:
  /// the caller may change or delete it then.
  ///
  /// Hard links within the item are kept, those to other items are stored as files.
  ///
  /// - Parameters:
  ///   - descriptor: open for reading; it stays the caller's.
  ///   - path: path in the archive.
  /// - Throws: what ends the whole run. What concerns this item alone is the result.
  public func appendItem(descriptor: Int32, as path: [UInt8]) throws(ArchiveError) -> ItemOutcome {
    try appendItem(path) { faults throws(ArchiveError) in
      let status = try system(path: path) { () throws(SystemError) in try FileSystem.status(of: descriptor) }
      switch status.kind {
      case .regular: try appendFile(descriptor, status, path, faults)
      case .directory: try appendDirectory(descriptor, path, faults)
      default: throw ArchiveError(.invalidArgument, "is neither a file nor a directory", path: path)
      }
    }
  }

  /// Appends a member from memory as an item.
  public func appendItem(_ member: Member, content: [UInt8] = []) throws(ArchiveError) -> ItemOutcome {
    try appendItem(member.path) { _ throws(ArchiveError) in try append(member, content: content) }
  }

  /// Members of items that are not whole, as far as nothing has taken their place.
  public var withdrawnMembers: WithdrawnMembers {
    let (prefixes, hashes) = withdrawn.leftOut
    return WithdrawnMembers(prefixes: prefixes, pathHashes: hashes)
  }

  private func appendItem(
    _ path: [UInt8], _ body: (ItemFaults) throws(ArchiveError) -> Void
  ) throws(ArchiveError) -> ItemOutcome {
    try stop.check()
    let faults = ItemFaults()
    let countBefore = claimCount
    withdrawn.beginItem()
    hardLinks = HardLinkTable()
    var failure: ArchiveError?
    do throws(ArchiveError) {
      try checkNames(above: path)
      try measurePlanning { () throws(ArchiveError) in try body(faults) }
    } catch {
      // What stopped the run is not about this item.
      if let stopped = stop.error { throw stopped }
      failure = error
    }
    let error = failure ?? faults.error
    let isPartial = error != nil && claimCount != countBefore
    try withdrawn.endItem(withdrawing: isPartial ? path : nil)
    guard let error else {
      noteNames(above: path)
      return .complete
    }
    return isPartial ? .partial(error) : .refused(error)
  }

  private func appendFile(
    _ descriptor: Int32, _ status: FileStatus, _ path: [UInt8], _ faults: ItemFaults
  ) throws(ArchiveError) {
    try Self.check(archivePath: path)
    var member = self.member(path, .file, status)
    let own = try system(path: path) { () throws(SystemError) in
      if SparseMap.mayBeSparse(status) {
        member.sparseExtents = try SparseMap.extents(of: descriptor, byteCount: member.byteCount)
      }
      return SharedDescriptor(try Descriptor.duplicate(of: descriptor))
    }
    if options.includesExtendedAttributes {
      SourceAttributes.read(
        into: &member, names: { () throws(SystemError) in try FileSystem.attributeNames(of: descriptor) },
        value: { name throws(SystemError) in try FileSystem.attribute(of: descriptor, name) },
        warn: { faults.note(path, $0) })
      if let error = faults.error { throw error }
    }
    if member.storedByteCount >= UInt64(largeByteCount) {
      try claim(path, isDirectory: false)
      FileSystem.advise(descriptor, .sequential)
      try planLarge(member, own, status, faults: faults)
      return try waitUntilRead()
    }
    let content = try storedContent(of: descriptor, member)
    try claim(path, isDirectory: false)
    try plan(PendingMember(member: member, source: .bytes(content)))
  }

  private func appendDirectory(_ descriptor: Int32, _ path: [UInt8], _ faults: ItemFaults) throws(ArchiveError) {
    do throws(ArchiveError) { try appendTree(directory: descriptor, as: path, excluding: [], faults: faults) } catch {
      // What was planned before the failure must not be read after the return either.
      try capture()
      throw error
    }
    try capture()
  }

  /// All stored bytes of a small file.
  private func storedContent(of descriptor: Int32, _ member: Member) throws(ArchiveError) -> [UInt8] {
    let wanted = Int(member.storedByteCount)
    var failure: SystemError?
    let content = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
      do throws(SystemError) {
        count = try unsafe SparseMap.read(
          descriptor, extents: member.sparseExtents, range: 0..<UInt64(wanted),
          into: UnsafeMutableRawBufferPointer(buffer)
        )
      } catch { failure = error }
    }
    if let failure { throw ArchiveError(failure).at(path: member.path) }
    guard content.count == wanted else {
      throw ArchiveError(.system, "shrank while it was read", path: member.path)
    }
    return content
  }

  // MARK: Capturing

  /// Reads what the planner still holds of the item and waits until lanes have read the rest.
  private func capture() throws(ArchiveError) {
    let opener = MemberOpener()
    try updateLast { pending throws(ArchiveError) in
      // Everything before this item was captured when it was added.
      guard let (tree, path) = pending.place else { return nil }
      return captured(pending, tree, path, opener)
    }
    try waitUntilRead()
  }

  private func captured(
    _ pending: PendingMember, _ tree: SourceTree, _ path: ArraySlice<UInt8>, _ opener: MemberOpener
  ) -> PendingMember {
    let archivePath = pending.member.path
    do {
      let opened = try opener.open(pending.member, tree, path) { self.warn(archivePath, $0) }
      let member = opened.member
      guard opened.status != nil else { return PendingMember(member: member, source: .none) }
      let content = try storedContent(of: opened.descriptor.rawValue, member)
      return PendingMember(member: member, source: content.isEmpty ? .none : .bytes(content))
    } catch {
      // It stays pending: the lane that comes to it finds the same and deals with it.
      let message = (error as? SystemError)?.message ?? (error as? ArchiveError)?.message ?? "cannot be read"
      tree.faults?.note(archivePath, message)
      return pending
    }
  }
}
