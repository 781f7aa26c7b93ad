internal import ArchiveFormat
public import ArchiveIO
internal import Synchronization

/// Reads one archive: ours through its index, anybody's tar or zstd-compressed tar as a stream.
///
/// One thread calls it. From a file every call starts at the beginning; from a pipe there can be only one.
///
/// ```swift
/// let reader = try ArchiveReader(path: Array("backup.tar.zst".utf8))
/// try reader.list { print($0.member.path) }
/// let summary = try reader.extract(to: Array("restored".utf8))
/// ```
public final class ArchiveReader {
  /// What the archive is read from.
  enum Input {
    case indexed(IndexedArchive)
    /// A file without an index that can be used; the reason, when that is a fault.
    case file(ArchiveFile, fault: ArchiveError?)
    case pipe(DescriptorReader)
  }

  let input: Input
  let limits: ReadLimits
  let laneCount: Int
  let caller: CancellationToken?
  let events: EventGate<ReaderEvent>
  private let warnings = Atomic<UInt64>(0)
  private var isPipeUsed = false

  /// Opens an archive file. A FIFO, or a descriptor's path such as `/dev/stdin`, is read as a stream.
  ///
  /// - Parameters:
  ///   - path: the file, as raw bytes.
  ///   - limits: bounds on what the archive may ask for.
  ///   - cancellation: ends a call that is running.
  ///   - threadCount: lanes; 0 takes the cores that this process may use.
  ///   - onEvent: called on threads of the reader, one at a time.
  public convenience init(
    path: [UInt8], limits: ReadLimits = .init(), threadCount: Int = 0, cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (ReaderEvent) -> Void = { _ in }
  ) throws(ArchiveError) {
    let descriptor = try system(path: path) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, path, .readOnly))
    }
    do throws(ArchiveError) {
      try self.init(
        descriptor, limits: limits, threadCount: threadCount, cancellation: cancellation, onEvent: onEvent)
    } catch { throw error.at(path: path) }
  }

  /// Reads from an open descriptor, which stays the caller's: a regular file from its first byte, anything else as a stream.
  public convenience init(
    descriptor: Int32, limits: ReadLimits = .init(), threadCount: Int = 0, cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (ReaderEvent) -> Void = { _ in }
  ) throws(ArchiveError) {
    let own = try system { () throws(SystemError) in SharedDescriptor(try Descriptor.duplicate(of: descriptor)) }
    try self.init(own, limits: limits, threadCount: threadCount, cancellation: cancellation, onEvent: onEvent)
  }

  private init(
    _ descriptor: SharedDescriptor, limits: ReadLimits, threadCount: Int, cancellation: CancellationToken?,
    onEvent: @escaping @Sendable (ReaderEvent) -> Void
  ) throws(ArchiveError) {
    self.limits = limits
    caller = cancellation
    events = EventGate(onEvent)
    let wanted = threadCount > 0 ? threadCount : ProcessFacts.availableCores
    // Each lane has a chunk in flight and one to come: the buffers of all share the memory that is allowed.
    var laneCount = max(1, min(wanted, limits.memoryByteCount / (24 << 20) - 1))
    let status = try system { () throws(SystemError) in try FileSystem.status(of: descriptor.rawValue) }
    switch status.kind {
    case .regular:
      let file = ArchiveFile(descriptor, byteCount: UInt64(max(0, status.byteCount)))
      do throws(ArchiveError) {
        if let archive = try IndexedArchive(file, pageMemoryByteCount: limits.pageMemoryByteCount) {
          laneCount = max(1, min(laneCount, Self.chunkBuffers(archive, limits) / 2 - 1))
          input = .indexed(archive)
        } else {
          input = .file(file, fault: nil)
        }
      } catch {
        // An index of another version is none; one that is damaged is a fault that the run decides about.
        input = .file(file, fault: error.code == .unsupported ? nil : error)
      }
    case .directory: throw ArchiveError(.invalidArgument, "is a directory, not an archive")
    default:
      input = .pipe(try system { () throws(SystemError) in try DescriptorReader(descriptor, token: cancellation) })
    }
    self.laneCount = laneCount
  }

  /// How many buffers for the largest chunk that an archive may hold fit into the memory that is allowed. Each lane has one for the
  /// stored bytes; the rest are slots for contents.
  private static func chunkBuffers(_ archive: IndexedArchive, _ limits: ReadLimits) -> Int {
    limits.memoryByteCount / archive.maximumChunkContentByteCount
  }

  /// Throws when the memory that is allowed does not do for one chunk, as stored and as decoded.
  func checkMemory(for archive: IndexedArchive) throws(ArchiveError) {
    guard Self.chunkBuffers(archive, limits) < 2 else { return }
    throw ArchiveError(
      .limitExceeded,
      "the archive's chunks need \(2 * archive.maximumChunkContentByteCount) bytes, more than the "
        + "\(limits.memoryByteCount) allowed; raise --memory-limit to read it")
  }

  /// Whether the archive is read through an index of ours.
  public var isIndexed: Bool {
    if case .indexed = input { true } else { false }
  }

  /// Oddities found by the last call, each of which makes a run less than clean; they were reported as warnings.
  public var warningCount: UInt64 { warnings.load(ordering: .relaxed) }

  /// Counts and reports something that makes the run less than clean. Any thread.
  func warn(_ path: [UInt8], _ message: String) {
    warnings.wrappingAdd(1, ordering: .relaxed)
    events.send(.warning(ArchiveWarning(path: path, message: message)))
  }

  /// Reports something that a person may want to know and that does not make the run less than clean.
  func note(_ path: [UInt8], _ message: String) {
    events.send(.warning(ArchiveWarning(path: path, message: message, isDegradation: false)))
  }

  /// Begins a call.
  func begin() -> StopSignal {
    warnings.store(0, ordering: .relaxed)
    return StopSignal(caller: caller)
  }

  /// The index, or nil when the archive has to be read as a stream. Throws when there is one that does not hold.
  func indexOrNil() throws(ArchiveError) -> IndexedArchive? {
    switch input {
    case .indexed(let archive): return archive
    case .file(_, let fault):
      if let fault { throw fault }
      return nil
    case .pipe: return nil
    }
  }

  /// All bytes of the archive; nil for a pipe.
  var archiveByteCount: UInt64? {
    switch input {
    case .indexed(let archive): archive.file.byteCount
    case .file(let file, _): file.byteCount
    case .pipe: nil
    }
  }

  /// The archive as a stream.
  func openStream() throws(ArchiveError) -> StreamInput {
    switch input {
    case .indexed(let archive): return try StreamInput(archive.file)
    case .file(let file, _): return try StreamInput(file)
    case .pipe(let reader):
      guard !isPipeUsed else { throw ArchiveError(.invalidArgument, "a pipe can be read only once") }
      isPipeUsed = true
      return try StreamInput(reader)
    }
  }

  /// Buffers for a stream run; lanes share the memory that is allowed.
  func makeStreamPool(_ stop: StopSignal) throws(ArchiveError) -> SlotPool<StreamSlot> {
    var slots: [StreamSlot] = []
    let byteCount = StreamSlot.contentByteCount(slotCount: laneCount + 2, limits)
    for _ in 0..<laneCount + 2 { slots.append(try StreamSlot(contentByteCount: byteCount)) }
    return SlotPool(slots, stop: stop)
  }

  /// Buffers for chunks of an indexed archive.
  func makeChunkPool(_ archive: IndexedArchive, _ stop: StopSignal) throws(ArchiveError) -> SlotPool<ReadSlot> {
    try checkMemory(for: archive)
    var slots: [ReadSlot] = []
    for _ in 0..<min(laneCount + 2, Self.chunkBuffers(archive, limits) - laneCount) {
      slots.append(try ReadSlot(byteCount: archive.maximumChunkContentByteCount))
    }
    return SlotPool(slots, stop: stop)
  }

  /// Runs a visitor over the archive as a stream, with lanes that decode frames.
  ///
  /// - Parameters:
  ///   - checksHashes: content hashes are compared with those of an index of ours too.
  ///   - reports: tells what is odd about the archive; false where that was told by a run before.
  func runStream(
    _ visitor: any StreamVisitor, pool: SlotPool<StreamSlot>, stop: StopSignal, isLenient: Bool = false,
    checksHashes: Bool = true, reports: Bool = true
  ) throws(ArchiveError) -> StreamRun {
    let lanes = try LanePool<DecodeItem>(laneCount: laneCount, label: "archive-read") { _ throws(ArchiveError) in
      let decompressor = try ZstdDecompressor()
      return { $0.perform(decompressor) }
    }
    defer { lanes.end() }
    let source = try StreamSource(
      openStream(), pool: pool, laneCount: laneCount, limits: limits, stop: stop, decode: { lanes.enqueue($0) })
    let run = try StreamRun(
      source, visitor: visitor, limits: limits, isLenient: isLenient, checksHashes: checksHashes,
      warn: { if reports { self.warn($0, $1) } },
      note: { if reports { self.note($0, $1) } })
    try run.run()
    return run
  }
}
