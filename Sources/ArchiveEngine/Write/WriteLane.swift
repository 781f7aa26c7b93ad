internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

/// One job with the slot that it works in and its place in the archive.
struct AssignedJob: Sendable {
  let sequence: Int
  let job: WriteJob
  let slot: WriteSlot
}

/// What one lane does: takes jobs in order, opens and reads files, builds and encodes chunks.
final class WriteLane {
  private let builder: ChunkBuilder
  private let stop: StopSignal
  /// Lanes go through a tree in order, so one cursor for the tree that is being read is enough.
  private var cursor: (tree: SourceTree, cursor: DirectoryCursor)?

  init(options: WriterOptions, inputByteCount: Int, stop: StopSignal) throws(ArchiveError) {
    self.stop = stop
    builder = try ChunkBuilder(
      encoder: FrameEncoder(options: options, inputByteCount: inputByteCount, stop: stop), stop: stop)
  }

  /// Works until the queue is closed. After a stop the remaining jobs are only taken off.
  func run(_ queue: JobQueue<AssignedJob>, into drain: OrderedDrain<WriteResult>) {
    while let assigned = queue.pop() {
      run(assigned) { result, isLast in drain.submit(assigned.sequence, result, isLast: isLast) }
    }
  }

  /// Performs one job. Its last result always comes, whatever happens, or the drain would wait for it for ever.
  func run(_ assigned: AssignedJob, submit: @escaping (WriteResult, _ isLast: Bool) -> Void) {
    var isDone = false
    if !stop.isSet {
      do throws(ArchiveError) {
        builder.begin(assigned.slot, isFirst: assigned.sequence == 0) { result, isLast in
          submit(result, isLast)
          if isLast { isDone = true }
        }
        try perform(assigned)
      } catch { stop.fail(error) }
    }
    if !isDone { submit(WriteResult(releasedSlot: assigned.slot), true) }
  }

  private func perform(_ assigned: AssignedJob) throws(ArchiveError) {
    switch assigned.job {
    case .group(let members):
      for member in members {
        try stop.check()
        try add(member)
      }
      try builder.finish()
    case .piece(let file, let index, let range, let isLast):
      try perform(file, index, range, isLast, assigned.slot)
    case .filled(let byteCount, let contentByteCount, let member):
      try builder.finishPiece(byteCount: byteCount, contentByteCount: contentByteCount, last: member)
    }
  }

  // MARK: Small members

  private func add(_ pending: PendingMember) throws(ArchiveError) {
    switch pending.source {
    case .none: try builder.add(pending.member)
    case .bytes(let bytes): try builder.add(pending.member, content: bytes)
    case .descriptor(let descriptor, let status):
      try addContent(of: descriptor.rawValue, status: status, member: pending.member)
    case .tree(let tree, let path): try add(pending, from: tree, path[...])
    case .below(let tree): try add(pending, from: tree, pending.member.path[tree.prefixByteCount...])
    }
  }

  private func add(_ pending: PendingMember, from tree: SourceTree, _ path: ArraySlice<UInt8>) throws(ArchiveError) {
    let opened: OpenedMember
    do throws(SystemError) { opened = try open(pending.member, tree, path) } catch {
      if [EMFILE, ENFILE, ENOMEM].contains(error.errno) { throw ArchiveError(error).at(path: pending.member.path) }
      return try leaveOut(pending, because: error)
    }
    if let status = opened.status {
      try addContent(of: opened.descriptor.rawValue, status: status, member: opened.member)
    } else {
      try addWithoutContent(opened.member)
    }
  }

  private func addWithoutContent(_ member: Member) throws(ArchiveError) {
    do throws(ArchiveError) { try builder.add(member) } catch {
      guard error.code == .limitExceeded else { throw error }
      builder.warn(member.path, "\(error.message); left out")
    }
  }

  private func leaveOut(_ pending: PendingMember, because error: SystemError) throws(ArchiveError) {
    let reason = error.errno == ENOENT ? "vanished before it was read" : error.message
    guard pending.isReferenced else { return builder.warn(pending.member.path, "\(reason); left out") }
    builder.warn(pending.member.path, "\(reason); stored as zeros and marked incomplete, since hard links refer to it")
    try unsafe builder.add(pending.member) { _, _ in 0 }
  }

  /// A member with all that its source says; for a file it is open.
  private struct OpenedMember: ~Copyable {
    var member: Member
    var descriptor: Descriptor
    /// Present for files.
    var status: FileStatus?
  }

  /// Completes a member from its source. Throws what the source's own calls throw: that decides about this member only.
  private func open(_ planned: Member, _ tree: SourceTree, _ path: ArraySlice<UInt8>) throws(SystemError)
    -> OpenedMember
  {
    var member = planned
    let warn: (String) -> Void = { [builder] in builder.warn(planned.path, $0) }
    switch member.kind {
    case .file:
      let (parent, name) = try locate(tree, path)
      let descriptor = try FileSystem.open(at: parent, name, [.readOnly, .noFollow, .nonBlocking])
      let status = try FileSystem.status(of: descriptor.rawValue)
      // Another kind of file has taken the name since the walk: what was listed is gone.
      guard status.kind == .regular else { throw SystemError("openat", errno: ENOENT) }
      completeFile(&member, descriptor.rawValue, status, tree, warn)
      return OpenedMember(member: member, descriptor: descriptor, status: status)
    case .directory:
      if tree.includesExtendedAttributes {
        let (parent, name) = try locate(tree, path)
        readAttributes(into: &member, at: parent, name.isEmpty ? [UInt8(ascii: ".")] : name, warn)
      }
    case .symlink, .fifo, .characterDevice, .blockDevice:
      let (parent, name) = try locate(tree, path)
      if member.kind == .symlink { member.linkTarget = try FileSystem.readLink(at: parent, name) }
      if tree.includesExtendedAttributes { readAttributes(into: &member, at: parent, name, warn) }
    case .hardlink: break
    }
    return OpenedMember(member: member, descriptor: Descriptor(adopting: -1), status: nil)
  }

  private func readAttributes(
    into member: inout Member, at parent: Int32, _ name: [UInt8], _ warn: (String) -> Void
  ) {
    SourceAttributes.read(
      into: &member, names: { () throws(SystemError) in try FileSystem.attributeNames(at: parent, name) },
      value: { attribute throws(SystemError) in try FileSystem.attribute(at: parent, name, attribute) }, warn: warn)
  }

  private func readAttributes(into member: inout Member, of descriptor: Int32, _ warn: (String) -> Void) {
    SourceAttributes.read(
      into: &member, names: { () throws(SystemError) in try FileSystem.attributeNames(of: descriptor) },
      value: { name throws(SystemError) in try FileSystem.attribute(of: descriptor, name) }, warn: warn)
  }

  private func completeFile(
    _ member: inout Member, _ descriptor: Int32, _ status: FileStatus, _ tree: SourceTree, _ warn: (String) -> Void
  ) {
    member.mode = status.mode
    member.modificationTime = Timestamp(
      seconds: status.modificationSeconds, nanoseconds: status.modificationNanoseconds)
    // What has been added since the walk is not stored; what has gone is not promised.
    if UInt64(status.byteCount) > member.byteCount {
      warn("grew since it was listed; only the first \(member.byteCount) bytes are stored")
    }
    member.byteCount = min(member.byteCount, UInt64(status.byteCount))
    if tree.includesExtendedAttributes { readAttributes(into: &member, of: descriptor, warn) }
    if SparseMap.mayBeSparse(status) {
      member.sparseExtents = try? SparseMap.extents(of: descriptor, byteCount: member.byteCount)
    }
  }

  private func addContent(of descriptor: Int32, status: FileStatus, member: Member) throws(ArchiveError) {
    let builder = self.builder
    do throws(ArchiveError) {
      try readContent(of: descriptor, member: member, builder: builder)
    } catch {
      guard error.code == .limitExceeded else { throw error }
      return builder.warn(member.path, "\(error.message); left out")
    }
    if member.byteCount > 0, let after = try? FileSystem.status(of: descriptor), !after.isUnchanged(since: status) {
      builder.warn(member.path, "changed while it was read")
    }
  }

  private func readContent(of descriptor: Int32, member: Member, builder: ChunkBuilder) throws(ArchiveError) {
    try unsafe builder.add(member) { buffer, offset in
      let range = UInt64(offset)..<UInt64(offset + buffer.count)
      do throws(SystemError) {
        let count = try unsafe SparseMap.read(descriptor, extents: member.sparseExtents, range: range, into: buffer)
        if count < buffer.count {
          builder.warn(member.path, "shrank while it was read; padded with zeros and marked incomplete")
        }
        return count
      } catch {
        builder.warn(member.path, "\(error.message); padded with zeros and marked incomplete")
        return 0
      }
    }
  }

  // MARK: Pieces of large files

  private func perform(
    _ file: LargeFile, _ index: Int, _ range: Range<UInt64>, _ isLast: Bool, _ slot: WriteSlot
  ) throws(ArchiveError) {
    var used = 0
    if index == 0 {
      unsafe file.header.withUnsafeBytes { unsafe slot.input.bytes.copyMemory(from: $0) }
      used = file.header.count
    }
    let byteCount = Int(range.upperBound - range.lowerBound)
    let target = unsafe UnsafeMutableRawBufferPointer(start: slot.input.base + used, count: byteCount)
    var count = 0
    var failure = "shrank while it was read"
    do throws(SystemError) {
      count = try unsafe SparseMap.read(
        file.descriptor.rawValue, extents: file.member.sparseExtents, range: range, into: target)
    } catch { failure = error.message }
    if count < byteCount {
      unsafe UnsafeMutableRawBufferPointer(rebasing: target[count...]).initializeMemory(as: UInt8.self, repeating: 0)
      builder.warn(file.member.path, "\(failure); padded with zeros and marked incomplete")
    }
    used += byteCount
    if isLast {
      let padding = (512 - used % 512) % 512
      unsafe (slot.input.base + used).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
      used += padding
    }
    try unsafe file.hash.update(index, UnsafeRawBufferPointer(target), isIncomplete: count < byteCount, stop: stop)
    file.reads.markRead()
    var record: IndexedMember?
    if isLast {
      let (contentHash, isIncomplete) = file.hash.finish()
      if let after = try? FileSystem.status(of: file.descriptor.rawValue), !after.isUnchanged(since: file.status) {
        builder.warn(file.member.path, "changed while it was read")
      }
      record = IndexedMember(
        member: file.member, headerByteCount: UInt64(file.header.count), contentHash: contentHash,
        isIncomplete: isIncomplete)
    }
    let holes = isLast ? file.member.byteCount - file.member.storedByteCount : 0
    try builder.finishPiece(byteCount: used, contentByteCount: UInt64(byteCount) + holes, last: record)
  }

  // MARK: Places

  private func cursor(for tree: SourceTree) -> DirectoryCursor {
    if let cursor, cursor.tree === tree { return cursor.cursor }
    let new = DirectoryCursor(root: tree.root)
    cursor = (tree, new)
    return new
  }

  private func locate(
    _ tree: SourceTree, _ path: ArraySlice<UInt8>
  ) throws(SystemError) -> (parent: Int32, name: [UInt8]) {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
      return (try cursor(for: tree).descriptor(for: [][...]), Array(path))
    }
    return (try cursor(for: tree).descriptor(for: path[..<slash]), Array(path[(slash + 1)...]))
  }
}
