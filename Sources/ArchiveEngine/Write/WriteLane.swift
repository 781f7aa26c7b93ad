internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

/// One job with the slot that it works in and its place in the archive.
struct AssignedJob: Sendable {
  let sequence: Int
  let job: WriteJob
  let slot: WriteSlot
}

/// What a lane takes from the queue.
enum LaneJob: Sendable {
  case make(AssignedJob)
  case place(PlacedFrame)
}

/// What one lane does: takes jobs in order, opens and reads files, builds and encodes chunks.
final class WriteLane {
  private let builder: ChunkBuilder
  private let stop: StopSignal
  private let opener = MemberOpener()
  /// Told when the bytes of a job have been read.
  private let reads: ReadCounter
  private let profile: LaneProfile?
  /// The job at hand is counted in ``reads``.
  private var isRead = false

  init(
    options: WriterOptions, inputByteCount: Int, stop: StopSignal, reads: ReadCounter, profile: LaneProfile? = nil
  ) throws(ArchiveError) {
    self.stop = stop
    self.reads = reads
    self.profile = profile
    builder = try ChunkBuilder(
      encoder: FrameEncoder(options: options, inputByteCount: inputByteCount, stop: stop), stop: stop, profile: profile)
  }

  /// Works until the queue is closed. After a stop the remaining jobs are only taken off.
  func run(_ queue: JobQueue<LaneJob>, into drain: OrderedDrain<WriteResult>) {
    profile.run(queue.pop) { job in
      switch job {
      case .make(let assigned):
        run(assigned) { result, isLast in drain.submit(assigned.sequence, result, isLast: isLast) }
      case .place(let frame): frame.write(stop)
      }
    }
  }

  /// Performs one job. Its last result always comes, whatever happens, or the drain would wait for it for ever.
  func run(_ assigned: AssignedJob, submit: @escaping (WriteResult, _ isLast: Bool) -> Void) {
    var isDone = false
    isRead = false
    if !stop.isSet {
      do throws(ArchiveError) {
        builder.begin(assigned.slot, isFirst: assigned.sequence == 0) { result, isLast in
          submit(result, isLast)
          if isLast { isDone = true }
        }
        try perform(assigned)
      } catch { stop.fail(error) }
    }
    markRead()
    if !isDone { submit(WriteResult(releasedSlot: assigned.slot), true) }
  }

  /// Tells once for each job that its sources are no longer needed.
  private func markRead() {
    if !isRead { reads.markRead() }
    isRead = true
  }

  private func perform(_ assigned: AssignedJob) throws(ArchiveError) {
    switch assigned.job {
    case .group(let members):
      for member in members {
        try stop.check()
        try add(member)
      }
      markRead()
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
    case .tree, .below: if let (tree, path) = pending.place { try add(pending, from: tree, path) }
    }
  }

  private func add(_ pending: PendingMember, from tree: SourceTree, _ path: ArraySlice<UInt8>) throws(ArchiveError) {
    let opened: MemberOpener.OpenedMember
    do throws(SystemError) {
      opened = try opener.open(pending.member, tree, path) { self.builder.warn(pending.member.path, $0) }
    } catch {
      if [EMFILE, ENFILE, ENOMEM].contains(error.errno) { throw ArchiveError(error, path: pending.member.path) }
      return try leaveOut(pending, tree.faults, because: error)
    }
    if let status = opened.status {
      try addContent(of: opened.descriptor.rawValue, status: status, member: opened.member, faults: tree.faults)
    } else {
      try addWithoutContent(opened.member, faults: tree.faults)
    }
  }

  private func addWithoutContent(_ member: Member, faults: ItemFaults?) throws(ArchiveError) {
    do throws(ArchiveError) { try builder.add(member) } catch {
      guard error.code == .limitExceeded else { throw error }
      degrade(member.path, "\(error.message); left out", faults)
    }
  }

  /// Reports that a member is not what its source is.
  private func degrade(_ path: [UInt8], _ message: String, _ faults: ItemFaults?) {
    builder.warn(path, message)
    faults?.note(path, message)
  }

  private func leaveOut(_ pending: PendingMember, _ faults: ItemFaults?, because error: SystemError)
    throws(ArchiveError)
  {
    let reason = error.errno == ENOENT ? "vanished before it was read" : error.message
    guard pending.isReferenced else { return degrade(pending.member.path, "\(reason); left out", faults) }
    degrade(
      pending.member.path, "\(reason); stored as zeros and marked incomplete, since hard links refer to it", faults)
    try unsafe builder.add(pending.member) { _, _ in 0 }
  }

  private func addContent(
    of descriptor: Int32, status: FileStatus, member: Member, faults: ItemFaults?
  ) throws(ArchiveError) {
    do throws(ArchiveError) {
      try readContent(of: descriptor, member: member, faults: faults)
    } catch {
      guard error.code == .limitExceeded else { throw error }
      return degrade(member.path, "\(error.message); left out", faults)
    }
    if member.byteCount > 0, let after = try? FileSystem.status(of: descriptor), !after.isUnchanged(since: status) {
      builder.warn(member.path, "changed while it was read")
    }
  }

  private func readContent(of descriptor: Int32, member: Member, faults: ItemFaults?) throws(ArchiveError) {
    var isReported = false
    func report(_ reason: String) {
      if !isReported { degrade(member.path, "\(reason); padded with zeros and marked incomplete", faults) }
      isReported = true
    }
    try unsafe builder.add(member) { buffer, offset in
      let range = UInt64(offset)..<UInt64(offset + buffer.count)
      do throws(SystemError) {
        let count = try unsafe SparseMap.read(descriptor, extents: member.sparseExtents, range: range, into: buffer)
        if count < buffer.count { report("shrank while it was read") }
        return count
      } catch {
        report(error.message)
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
      if file.beginReport() {
        degrade(file.member.path, "\(failure); padded with zeros and marked incomplete", file.faults)
      }
    }
    used += byteCount
    if isLast {
      let padding = (512 - used % 512) % 512
      unsafe (slot.input.base + used).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
      used += padding
    }
    try unsafe file.hash.update(
      index, UnsafeRawBufferPointer(target), isIncomplete: count < byteCount, stop: stop, profile: profile)
    markRead()
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
}
