internal import ArchiveFormat
public import ArchiveIO

/// Predicts how large an archive will be, and how long writing it will take, in a fraction of that time.
///
/// It goes through the trees as an ``ArchiveWriter`` with the same options would, plans the same chunks, and reads and compresses some
/// of them. The same trees and options give the same sizes, for any number of threads. One thread calls it.
///
/// ```swift
/// let estimator = try SizeEstimator()
/// try estimator.addTree(at: Array("project".utf8), as: Array("project".utf8))
/// let estimate = try estimator.finish()
/// print(estimate.archiveByteCount, estimate.seconds)
/// ```
public final class SizeEstimator {
  /// The settings of the archive.
  public let options: WriterOptions

  private let stop: StopSignal
  private let planner: ArchiveWriter
  private let collector: ChunkCollector
  private let warnings = Locked<UInt64>(0)
  private let start = ContinuousClock.now
  private var isFinished = false

  /// Starts an estimate.
  ///
  /// - Parameters:
  ///   - options: the settings of the archive.
  ///   - samplesContents: without, nothing is read: sizes of the contents are exact, and all else is zero.
  ///   - cancellation: ends the run.
  ///   - onWarning: called for what cannot be read and for what archives do not hold, on threads of the estimator, one at a time.
  public init(
    options: WriterOptions = .init(), samplesContents: Bool = true, cancellation: CancellationToken? = nil,
    onWarning: @escaping @Sendable (ArchiveWarning) -> Void = { _ in }
  ) throws(ArchiveError) {
    self.options = options
    let stop = StopSignal(caller: cancellation)
    self.stop = stop
    let (gate, warnings) = (EventGate(onWarning), self.warnings)
    let warn: @Sendable (ArchiveWarning) -> Void = { warning in
      if warning.isDegradation { warnings.withLock { $0 += 1 } }
      gate.send(warning)
    }
    let collector = ChunkCollector(options: options, samplesContents: samplesContents, stop: stop, warn: warn)
    self.collector = collector
    planner = try ArchiveWriter(planning: options, stop: stop) { event in
      if case .warning(let warning) = event { warn(warning) }
    } takePlanned: { chunk throws(ArchiveError) in
      try collector.take(chunk)
    }
  }

  deinit {
    guard !isFinished else { return }
    stop.fail(ArchiveError(.cancelled, "the estimator was released before it was finished"))
    collector.abandon()
  }

  /// Chunks that are kept in memory; tests make it small.
  package var maximumCandidateCount: Int {
    get { collector.maximumCandidateCount }
    set { collector.maximumCandidateCount = newValue }
  }

  /// The file whose place the archive will take; trees are estimated without it.
  public var replacedFile: ReplacedFile? {
    get { planner.replacedFile }
    set { planner.replacedFile = newValue }
  }

  /// Leaves the file out to which the archive will be written, should it lie in one of the trees.
  public func leaveOut(output descriptor: Int32) {
    guard let status = try? FileSystem.status(of: descriptor), status.kind == .regular else { return }
    planner.outputIdentity = (status.device, status.inode)
  }

  /// Adds a file, or a directory with everything in it: the same as ``ArchiveWriter/appendTree(at:as:in:excluding:)``.
  public func addTree(
    at path: [UInt8], as archivePath: [UInt8], in directory: Int32? = nil, excluding: [GlobPattern] = []
  ) throws(ArchiveError) {
    try planner.appendTree(at: path, as: archivePath, in: directory, excluding: excluding)
  }

  /// Adds what lies behind an open descriptor of a directory: the same as ``ArchiveWriter/appendTree(directory:as:excluding:)``.
  public func addTree(
    directory: Int32, as archivePath: [UInt8], excluding: [GlobPattern] = []
  ) throws(ArchiveError) {
    try planner.appendTree(directory: directory, as: archivePath, excluding: excluding)
  }

  /// Samples what was added and predicts.
  ///
  /// - Throws: what ended the run; a file that cannot be read does not.
  public func finish() throws(ArchiveError) -> SizeEstimate {
    guard !isFinished else { throw ArchiveError(.invalidArgument, "the estimator is finished already") }
    isFinished = true
    do throws(ArchiveError) {
      try planner.finishPlanning()
      let walkSeconds = (ContinuousClock.now - start) / .seconds(1)
      var estimate = try collector.finish(walkSeconds: walkSeconds)
      estimate.warningCount = warnings.withLock { $0 }
      return estimate
    } catch {
      collector.abandon()
      throw stop.error ?? error
    }
  }
}
