internal import ArchiveFormat
public import ArchiveIO
internal import CZstd
internal import Synchronization

/// What a writer reports while it works, in archive order as far as it concerns members.
public enum WriterEvent: Sendable {
  /// How far the run has come; after every chunk.
  case progress(ArchiveProgress)
  /// Something was skipped or degraded.
  case warning(ArchiveWarning)
}

/// Writes one archive.
///
/// One thread calls it, member after member; compression happens on threads of its own. Memory is bounded: a call
/// waits when all buffers are in use. A writer that is released before ``finish(closingManifest:)`` has returned stops and leaves what was written as it is: whoever
/// gave the output removes it.
///
/// ```swift
/// let writer = try ArchiveWriter(to: descriptor)
/// try writer.appendTree(at: "/home/ada/project", as: "project")
/// let summary = try writer.finish()
/// ```
public final class ArchiveWriter {
  /// The settings.
  public let options: WriterOptions

  let stop: StopSignal
  let report: @Sendable (WriterEvent) -> Void
  private let output: ArchiveOutput
  private let frames: FrameOutput
  private let pool: SlotPool<WriteSlot>
  /// Names that are under way: where they are longer than what they name, slots alone would not bound them.
  private let nameBudget: ByteBudget
  private let queue = JobQueue<LaneJob>()
  private let drain: OrderedDrain<WriteResult>
  private let lanes: Lanes
  /// In place of the lanes, when everything happens on the calling thread.
  private let serialLane: WriteLane?
  private let endEncoder: FrameEncoder
  /// Takes the chunks of a writer that only plans them; nil in one that writes.
  private let takePlanned: ((PlannedChunk) throws(ArchiveError) -> Void)?
  /// It writes nothing.
  var isPlanning: Bool { takePlanned != nil }
  private let reads: ReadCounter
  /// Jobs that ``waitUntilRead()`` has waited for.
  private var readCount = 0

  private var groups: MemberGroups
  private var names = NameTable()
  /// With ``WriterOptions/staysOnFileSystem``: directories at which trees begin and where their walks did not go on, by XXH3-64 of the name.
  var treeEdges: [UInt64: (device: UInt64, inode: UInt64)] = [:]
  private var sequence = 0
  /// State of ``appendTree(at:as:in:excluding:)``.
  var hardLinks = HardLinkTable()
  let owners = OwnerNames()
  var plannerCursor: (tree: SourceTree, cursor: DirectoryCursor)?
  /// Where the archive itself lies, so that it is not stored in itself.
  var outputIdentity: (device: UInt64, inode: UInt64)?
  /// Names taken so far.
  private(set) var claimCount: UInt64 = 0
  /// Names of items that are not whole.
  var withdrawn = WithdrawnNames()
  /// Names above items, which readers make directories of though no member says so; by XXH3-64.
  private var namesAboveItems: Set<UInt64> = []
  /// The file whose place the archive takes; trees are stored without it, since it is gone when the archive is there.
  public var replacedFile: ReplacedFile?
  private var isFinished = false
  /// State of ``measurePlanning(_:)``.
  private var isPlanningMeasured = false

  /// Starts an archive on an open descriptor, which stays the caller's.
  ///
  /// - Parameters:
  ///   - descriptor: a file, pipe or socket, open for writing. A file gets the archive from its position on, not in order; in the end its position is
  ///     behind the archive.
  ///   - options: the settings.
  ///   - cancellation: ends the run.
  ///   - onEvent: called on threads of the writer, one at a time; it must not block for long.
  public convenience init(
    to descriptor: Int32, options: WriterOptions = .init(), cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (WriterEvent) -> Void = { _ in }
  ) throws(ArchiveError) {
    let stop = StopSignal(caller: cancellation)
    let target = try system { () throws(SystemError) -> ArchiveOutput.Target in
      let own = SharedDescriptor(try Descriptor.duplicate(of: descriptor))
      if let file = try PlacedFile(own, token: stop.token) { return .file(file) }
      return .descriptor(try DescriptorWriter(own, token: stop.token))
    }
    try self.init(ArchiveOutput(target), options: options, stop: stop, onEvent: onEvent)
    if let status = try? FileSystem.status(of: descriptor), status.kind == .regular {
      outputIdentity = (status.device, status.inode)
    }
  }

  /// Starts an archive whose bytes go to a sink of the caller.
  public convenience init(
    to sink: any ArchiveSink, options: WriterOptions = .init(), cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (WriterEvent) -> Void = { _ in }
  ) throws(ArchiveError) {
    try self.init(
      ArchiveOutput(.sink(sink)), options: options, stop: StopSignal(caller: cancellation), onEvent: onEvent)
  }

  /// A writer that reads no contents and writes nothing: it gives out the chunks that one with these options would make of the same trees.
  convenience init(
    planning options: WriterOptions, stop: StopSignal, onEvent: @escaping @Sendable (WriterEvent) -> Void,
    takePlanned: @escaping (PlannedChunk) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    try self.init(
      ArchiveOutput(.sink(NoSink())), options: options, stop: stop, onEvent: onEvent, takePlanned: takePlanned)
  }

  private init(
    _ output: ArchiveOutput, options: WriterOptions, stop: StopSignal,
    onEvent: @escaping @Sendable (WriterEvent) -> Void,
    takePlanned: ((PlannedChunk) throws(ArchiveError) -> Void)? = nil
  ) throws(ArchiveError) {
    self.takePlanned = takePlanned
    try options.validate()
    self.options = options
    self.output = output
    self.stop = stop
    let eventLock = EventGate(onEvent)
    report = { eventLock.send($0) }
    let settings = ArchiveSettings(
      chunkByteCount: UInt32(options.chunkByteCount), level: Int32(options.level),
      zstdVersion: UInt32(ZSTD_versionNumber()))
    let manifest = Manifest(options.manifest.map { Manifest.Pair(key: $0.key, value: $0.value) })
    let accumulator = try format { () throws(FormatError) in
      try IndexAccumulator(settings: settings, opening: manifest)
    }
    groups = MemberGroups(chunkByteCount: options.chunkByteCount)

    let laneCount = takePlanned != nil || options.isSerial ? 0 : options.laneCount
    let inputByteCount = Self.inputByteCount(options)
    var slots: [WriteSlot] = []
    for _ in 0..<(takePlanned != nil ? 0 : laneCount + 2) {
      slots.append(try WriteSlot(inputByteCount: inputByteCount, outputByteCount: inputByteCount))
    }
    let pool = SlotPool(slots, stop: stop)
    self.pool = pool
    let nameBudget = ByteBudget(byteCount: Self.nameByteCount, stop: stop)
    self.nameBudget = nameBudget
    let queue = self.queue
    let place: @Sendable (PlacedFrame) -> Void = { queue.pushFirst(.place($0)) }
    let frames = FrameOutput(
      output: output, accumulator: accumulator, stop: stop, account: SlotAccount(pool: pool, names: nameBudget),
      report: report, profile: options.profile, place: laneCount > 0 ? place : nil)
    self.frames = frames
    let drain = OrderedDrain<WriteResult>(label: "archive-writer") { frames.consume($0) }
    self.drain = drain
    let reads = ReadCounter()
    self.reads = reads
    var workers: [Handoff<WriteLane>] = []
    serialLane =
      options.isSerial ? try WriteLane(options: options, inputByteCount: inputByteCount, stop: stop, reads: reads) : nil
    for _ in 0..<laneCount {
      let lane = try WriteLane(
        options: options, inputByteCount: inputByteCount, stop: stop, reads: reads, profile: options.profile?.addLane())
      workers.append(Handoff(lane))
    }
    endEncoder = try FrameEncoder(options: options, inputByteCount: inputByteCount, stop: stop)
    let lanesWork = workers
    lanes = Lanes(count: workers.count, label: "archive-writer") { lane in lanesWork[lane].value.run(queue, into: drain)
    }
  }

  /// Groups of ordinary trees have some ten thousand bytes of names, so this is reached only where paths are very long.
  private static let nameByteCount = 4 << 20

  /// A slot holds the largest planned chunk and, beyond it, the largest header that may come as a surprise. Pages that are never touched cost no memory.
  static func inputByteCount(_ options: WriterOptions) -> Int {
    options.chunkByteCount * 3 / 2 + (4 << 20)
  }

  deinit { if !isFinished { end(failing: ArchiveError(.cancelled, "the writer was released before it was finished")) } }

  /// Stops the threads and waits for them.
  private func end(failing error: ArchiveError?) {
    if let error { stop.fail(error) }
    // The drain hands out frames to be written until its last result: only then may lanes go.
    drain.finish(count: serialLane == nil ? sequence : 0)
    queue.close()
    lanes.join()
    if stop.isSet { frames.leave() }
    isFinished = true
  }

  /// Writes what is pending, the index and the seek table, and ends the threads.
  ///
  /// - Parameter closingManifest: pairs that are known only now; they are stored in the root after the opening ones.
  /// - Throws: the first error of the run. The output then holds no complete archive.
  public func finish(closingManifest: [(key: String, value: String)] = []) throws(ArchiveError) -> WriteSummary {
    guard !isFinished else { throw ArchiveError(.invalidArgument, "the writer is finished already") }
    do throws(ArchiveError) {
      try measurePlanning { () throws(ArchiveError) in
        groups.flush()
        try enqueueGroups()
      }
      options.profile.controlWait { end(failing: nil) }
      try stop.check()
      var closing = Manifest(closingManifest.map { Manifest.Pair(key: $0.key, value: $0.value) })
      if withdrawn.hasRepeats { closing.pairs.append(Manifest.Pair(key: Manifest.repeatedNamesKey, value: "1")) }
      return try options.profile.measure(.index) { () throws(ArchiveError) in
        try frames.finish(closing: closing, encoder: endEncoder, slot: pool.acquire())
      }
    } catch {
      if !isFinished { end(failing: error) }
      throw stop.error ?? error
    }
  }

  /// Ends a writer that only plans: the last groups are given out.
  func finishPlanning() throws(ArchiveError) {
    groups.flush()
    try enqueueGroups()
    end(failing: nil)
  }

  // MARK: Planning

  /// Runs what the caller asked for; its processor time counts as planning, once where one call leads to another.
  func measurePlanning<R>(_ body: () throws(ArchiveError) -> R) throws(ArchiveError) -> R {
    guard options.profile != nil, !isPlanningMeasured else { return try body() }
    isPlanningMeasured = true
    defer { isPlanningMeasured = false }
    return try options.profile.measure(.planning, body)
  }

  /// Takes a name, which may not be in use.
  func claim(_ path: [UInt8], isDirectory: Bool) throws(ArchiveError) {
    let hash = XXH3.hash64(path.span)
    guard names.find(hash) == nil || withdrawn.isFree(hash) else {
      throw ArchiveError(.exists, "the archive has a member with this name already", path: path)
    }
    if !isDirectory, namesAboveItems.contains(hash) {
      throw ArchiveError(.exists, "the archive has members below this name, so it can only be a directory", path: path)
    }
    names.set(hash, isDirectory ? .directory : .other)
    try withdrawn.claim(path, hash)
    claimCount += 1
  }

  /// Refuses an item that lies below something else than a directory: no reader could make it.
  func checkNames(above path: [UInt8]) throws(ArchiveError) {
    for end in path.indices where path[end] == UInt8(ascii: "/") {
      let above = Array(path[..<end])
      let hash = XXH3.hash64(above.span)
      guard case .other? = names.find(hash), !withdrawn.isFree(hash) else { continue }
      throw ArchiveError(
        .exists,
        "lies below \"\(PathText.printable(above))\", which the archive has as something else than a directory",
        path: path)
    }
  }

  /// Notes the names above an item that is whole.
  func noteNames(above path: [UInt8]) {
    for end in path.indices where path[end] == UInt8(ascii: "/") {
      let above = Array(path[..<end])
      namesAboveItems.insert(XXH3.hash64(above.span))
    }
  }

  /// Whether a name is in use.
  func isClaimed(_ path: [UInt8]) -> Bool { names.find(XXH3.hash64(path.span)) != nil }

  /// Adds a small member to the group in the making.
  func plan(_ pending: PendingMember) throws(ArchiveError) {
    var pending = pending
    pending.plannedByteCount = TarHeaderEncoder.headerByteCount(of: pending.member) + pending.paddedByteCount
    groups.add(pending)
    try enqueueGroups()
  }

  /// Lets `body` change what waits for its group, from the last member back to the first for which it gives nil.
  func updateLast(_ body: (PendingMember) throws(ArchiveError) -> PendingMember?) throws(ArchiveError) {
    try groups.updateLast(body)
  }

  /// Waits until the sources of all jobs handed to lanes have been read.
  func waitUntilRead() throws(ArchiveError) {
    defer { readCount = sequence }
    try options.profile.controlWait { () throws(ArchiveError) in
      try reads.wait(jobCount: sequence - readCount, stop: stop)
    }
  }

  /// Stored size from which on a file gets chunks of its own.
  var largeByteCount: Int { groups.largeByteCount }

  /// Adds a large file; metadata and extents are final. Its pieces are read by several lanes.
  func planLarge(
    _ member: Member, _ descriptor: SharedDescriptor, _ status: FileStatus, source: PendingMember.Source = .none,
    faults: ItemFaults? = nil
  ) throws(ArchiveError) {
    if let takePlanned { return try planLarge(member, source, takePlanned) }
    let hash = try HashChain()
    if let extents = member.sparseExtents {
      hash.seed(IndexedMember.sparseHashPrefix(extents: extents, byteCount: member.byteCount))
    }
    var header: [UInt8] = []
    try format(path: member.path) { () throws(FormatError) in try TarHeaderEncoder.append(member, to: &header) }
    let file = LargeFile(
      member: member, header: header, descriptor: descriptor, status: status, hash: hash, faults: faults)
    groups.flush()
    try enqueueGroups()
    let pieces = FilePieces(storedByteCount: member.storedByteCount, chunkByteCount: UInt64(options.chunkByteCount))
    for index in 0..<pieces.count {
      try enqueue(.piece(file, index: Int(index), range: pieces[index], isLast: index == pieces.count - 1))
    }
  }

  /// Gives out the pieces of a large file.
  private func planLarge(
    _ member: Member, _ source: PendingMember.Source, _ takePlanned: (PlannedChunk) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let headerByteCount = TarHeaderEncoder.headerByteCount(of: member)
    groups.flush()
    try enqueueGroups()
    let file = PendingMember(member: member, source: source)
    let pieces = FilePieces(storedByteCount: member.storedByteCount, chunkByteCount: UInt64(options.chunkByteCount))
    for index in 0..<pieces.count {
      try stop.check()
      try takePlanned(
        .piece(
          PlannedPiece(
            file: file, headerByteCount: index == 0 ? headerByteCount : 0, range: pieces[index],
            isLast: index == pieces.count - 1)))
    }
  }

  private func enqueueGroups() throws(ArchiveError) {
    for group in groups.takeReady() {
      if let takePlanned { try takePlanned(.group(group)) } else { try enqueue(.group(group)) }
    }
  }

  private func enqueue(_ job: WriteJob) throws(ArchiveError) {
    var nameByteCount = 0
    if case .group(let members) = job {
      for pending in members { nameByteCount += pending.member.path.count + pending.member.linkTarget.count }
    }
    let slot = try options.profile.controlWait { () throws(ArchiveError) in
      try nameBudget.take(nameByteCount)
      return try pool.acquire()
    }
    slot.nameByteCount.store(nameByteCount, ordering: .relaxed)
    hand(AssignedJob(sequence: sequence, job: job, slot: slot))
  }

  /// Gives a job to the lanes, or performs it here and now.
  private func hand(_ assigned: AssignedJob) {
    if let serialLane {
      serialLane.run(assigned) { [frames] result, _ in frames.consume(result) }
    } else {
      queue.push(.make(assigned))
    }
    sequence += 1
  }

  /// Adds a large member whose content comes from the caller, piece by piece through slots that this thread fills.
  func planStream(
    _ member: Member, read: (UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int
  ) throws(ArchiveError) {
    let hash = try HashChain()
    var header: [UInt8] = []
    try format(path: member.path) { () throws(FormatError) in try TarHeaderEncoder.append(member, to: &header) }
    groups.flush()
    try enqueueGroups()
    let pieces = FilePieces(storedByteCount: member.byteCount, chunkByteCount: UInt64(options.chunkByteCount))
    for index in 0..<pieces.count {
      let range = pieces[index]
      let slot = try options.profile.controlWait { () throws(ArchiveError) in try pool.acquire() }
      var used = 0
      if index == 0 {
        unsafe header.withUnsafeBytes { unsafe slot.input.bytes.copyMemory(from: $0) }
        used = header.count
      }
      let byteCount = Int(range.upperBound - range.lowerBound)
      let target = unsafe UnsafeMutableRawBufferPointer(start: slot.input.base + used, count: byteCount)
      do throws(ArchiveError) {
        var done = 0
        while done < byteCount {
          try stop.check()
          let count = try unsafe read(UnsafeMutableRawBufferPointer(rebasing: target[done...]))
          guard count > 0 else {
            throw ArchiveError(
              .invalidArgument, "the content ends at byte \(range.lowerBound + UInt64(done)) of \(member.byteCount)",
              path: member.path)
          }
          done += count
        }
      } catch {
        // A member that is begun cannot be taken back.
        stop.fail(error)
        throw error
      }
      _ = options.profile.measure(.memberHash, within: .planning) {
        unsafe hash.tryUpdate(Int(index), UnsafeRawBufferPointer(target))
      }
      used += byteCount
      var record: IndexedMember?
      if index == pieces.count - 1 {
        let padding = (512 - used % 512) % 512
        unsafe (slot.input.base + used).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        used += padding
        record = IndexedMember(
          member: member, headerByteCount: UInt64(header.count), contentHash: hash.finish().hash)
      }
      hand(
        AssignedJob(
          sequence: sequence, job: .filled(byteCount: used, contentByteCount: UInt64(byteCount), last: record),
          slot: slot))
    }
  }

  /// Reports something that happened on the calling thread.
  func warn(_ path: [UInt8], _ message: String, isDegradation: Bool = true) {
    frames.noteExternalWarning(isDegradation)
    report(.warning(ArchiveWarning(path: path, message: message, isDegradation: isDegradation)))
  }
}
