internal import ArchiveEngine
internal import ArchiveIO
public import MigrationWire
internal import Synchronization

/// What an export is about.
public struct ExportOptions: Sendable {
  /// Where an archive goes.
  public enum Output: Sendable {
    /// A file that appears when it is complete.
    case file([UInt8])
    /// An open pipe, socket or file, which stays the caller's.
    case descriptor(Int32)
  }

  /// Where extension and data are.
  package var place = ExtensionPlace()
  /// Where the archive goes.
  public var output: Output
  /// Another container than the usual one of the app.
  public var containerPath: [UInt8]? {
    get { place.containerPath }
    set { place.containerPath = newValue }
  }
  /// The destination's platform.
  public var platform = "android"
  /// Values for options of the destination.
  public var options: [MigrationTask.Option] = []
  /// The store that the app came from; empty when unknown.
  public var storeIdentifier = ""
  /// How long the extension may take.
  public var timeouts = MigrationTimeouts()
  /// Whether a kernel that cannot enforce everything ends the export.
  public var requiresSandbox = false
  /// Compressing threads; 0 takes the cores that this process may use.
  public var threadCount = 0

  /// Faults that a tester wants to see.
  package var faults = SimulatedFaults()

  /// An export with the defaults.
  ///
  /// - Parameters:
  ///   - executable: the extension; its entitlements lie beside it.
  ///   - output: where the archive goes.
  public init(executable: [UInt8], output: Output) {
    self.init(ExtensionPlace(executable: executable), output: output)
  }

  package init(_ place: ExtensionPlace, output: Output) {
    self.place = place
    self.output = output
  }
}

/// What an export has done.
public struct ExportSummary: Sendable {
  /// Sum of the sizes of all files.
  public var uncompressedByteCount: UInt64
  /// Bytes of the archive; nil when the extension's data are not to be compressed.
  public var compressedByteCount: UInt64?
  /// What the extension said about itself.
  public var description: ExtensionDescription
  /// Items that the extension appended.
  public var itemCount: UInt64
  /// From the call of the extension's export to the finished archive.
  public var duration: Duration
  /// Until then: start of the extension and its estimate.
  public var preflightDuration: Duration
  /// The archive's digest.
  public var digest: String
  /// What the sandbox could enforce.
  public var sandbox: SandboxReport
}

/// One export, from the locks to the finished archive.
struct ExportSession {
  private let options: ExportOptions
  private let cancellation: CancellationToken
  private let report: @Sendable (MigrationEvent) -> Void

  init(
    _ options: ExportOptions, cancellation: CancellationToken, onEvent: @escaping @Sendable (MigrationEvent) -> Void
  ) {
    self.options = options
    self.cancellation = cancellation
    report = onEvent
  }

  func run() throws(MigrationError) -> ExportSummary {
    let app = try ExtensionApp(options.place)
    try app.requireContainer()
    let lock = try MigrationLock.acquire(app.layout, stoppingOrphans: ExtensionApp.stopOrphans)
    defer { lock.release() }
    let output = try openOutput()
    do throws(MigrationError) {
      let summary: ExportSummary
      do throws(MigrationError) { summary = try export(app, lock, to: output) } catch {
        // The extension is gone, so nothing is left to be cleaned up; if this fails too, the next run finds that out.
        try? MigrationJournal.remove(app.layout)
        throw error
      }
      if cancellation.isCancelled { throw MigrationError(.cancelled, "cancelled") }
      if let file = output.file {
        do throws(SystemError) { try file.commit(sync: true) } catch {
          throw .place("finish the archive", output.path, error)
        }
      }
      return summary
    } catch {
      output.file?.abandon()
      throw error
    }
  }

  // MARK: Output

  private struct Output {
    var file: OutputFile?
    var path: [UInt8] = []
    var descriptor: Int32
  }

  private func openOutput() throws(MigrationError) -> Output {
    switch options.output {
    case .descriptor(let descriptor): return Output(descriptor: descriptor)
    case .file(let path):
      do throws(SystemError) {
        let file = try OutputFile(path: path)
        return Output(file: file, path: path, descriptor: file.descriptor.rawValue)
      } catch { throw .place("make the archive", path, error) }
    }
  }

  private func checkFreeSpace(_ output: Output, for description: ExtensionDescription) throws(MigrationError) {
    guard let file = output.file, !file.isDirect, description.sizeEstimate > 0 else { return }
    guard let free = try? ProcessFacts.freeSpace(of: output.descriptor).bytes else { return }
    guard free < UInt64(description.sizeEstimate) else { return }
    throw MigrationError(
      .noSpace,
      "the extension expects \(description.sizeEstimate) bytes, and \(free) bytes are free where the archive goes")
  }

  // MARK: Conversation

  private func export(_ app: ExtensionApp, _ lock: MigrationLock, to output: Output) throws(MigrationError)
    -> ExportSummary
  {
    let beginning = ContinuousClock.now
    let journal = MigrationJournal(kind: .export)
    try journal.write(to: app.layout)
    let process = try app.start(.export, lock: lock, requiresSandbox: options.requiresSandbox) {
      processID, startTime throws(MigrationError) in
      var journal = journal
      (journal.processID, journal.startTime) = (processID, startTime)
      try journal.write(to: app.layout)
    }
    let sinkDescriptor = output.descriptor
    let run = SupervisedExtension(
      process, timeouts: options.timeouts, cancellation: cancellation,
      probe: SupervisedExtension.Probe(isActive: { SinkWatch.isBlocked(sinkDescriptor) }))
    defer { run.close() }
    try run.send(
      .begin(
        app.task(.export(platform: options.platform, options: options.options))))
    let description = try self.description(run)
    guard description.exports else {
      throw MigrationError(.extensionFailed, "the extension does not export (it is no ResourcesExporting)")
    }
    report(.described(description))
    try checkFreeSpace(output, for: description)
    let preflight = ContinuousClock.now - beginning
    let total = UInt64(max(0, description.sizeEstimate))
    let archive = try ExportArchive(
      to: output.descriptor, manifest: manifest(app, description), owner: app.containerOwner(),
      threadCount: options.threadCount, freeByteCount: options.faults.freeByteCount, cancellation: run.engineToken,
      onEvent: { [report] event in
        switch event {
        case .progress(let progress):
          run.touch()
          report(.bytes(done: progress.contentByteCount, total: total))
        case .warning(let warning): report(.warning(warning.description))
        }
      })
    let start = ContinuousClock.now
    try run.send(.proceed)
    try takeItems(run, archive)
    try run.finish()
    let written = try run.withVerdict { () throws(MigrationError) in try archive.finish() }
    try MigrationJournal.remove(app.layout)
    return ExportSummary(
      uncompressedByteCount: written.contentByteCount,
      compressedByteCount: description.isCompressible ? written.archiveByteCount : nil, description: description,
      itemCount: archive.itemCount, duration: ContinuousClock.now - start, preflightDuration: preflight,
      digest: written.digest, sandbox: process.sandbox)
  }

  private func description(_ run: SupervisedExtension) throws(MigrationError) -> ExtensionDescription {
    switch try run.receive().message {
    case .description(let description): return description
    case .failed(let error): throw MigrationError(extension: error)
    default: throw run.violation("its first message is no description")
    }
  }

  private func manifest(_ app: ExtensionApp, _ description: ExtensionDescription) -> MigrationManifest {
    MigrationManifest(
      version: description.version,
      source: SourceApp(
        storeIdentifier: options.storeIdentifier, bundleIdentifier: app.layout.bundleIdentifier,
        platform: ExtensionApp.platform),
      destinationPlatform: options.platform, sizeEstimate: description.sizeEstimate,
      isCompressible: description.isCompressible)
  }

  /// Answers items until the extension is done.
  private func takeItems(_ run: SupervisedExtension, _ archive: ExportArchive) throws(MigrationError) {
    var count = 0
    while true {
      let (message, descriptor) = try run.receive()
      switch message {
      case .item(let item):
        count += 1
        try options.faults.strike(atItem: count, cancelling: cancellation)
        let reply = try run.withVerdict { () throws(MigrationError) in try archive.append(item, descriptor) }
        run.touch()
        if item.wantsReply || reply != .accepted { try run.send(.reply(number: item.number, reply.bounded)) }
      case .progress: break
      case .finished:
        if cancellation.isCancelled { throw MigrationError(.cancelled, "cancelled") }
        return
      case .failed(let error):
        if cancellation.isCancelled { throw MigrationError(.cancelled, "cancelled") }
        throw MigrationError(extension: error)
      case .description: throw run.violation("a second description")
      }
    }
  }
}

extension ItemReply {
  /// The same with a message that fits into a packet.
  var bounded: ItemReply {
    guard case .refused(let message) = self, message.utf8.count > 16 << 10 else { return self }
    return .refused(message: String(decoding: message.utf8.prefix(16 << 10), as: UTF8.self))
  }
}

extension MigrationError {
  /// The extension has thrown.
  init(extension error: ErrorRecord) {
    self.init(
      .extensionFailed, "the extension failed: \(error.description) (\(error.domain) \(error.code))",
      extensionError: error)
  }
}

extension SupervisedExtension {
  /// Work of the engine; when the watch has ended it, its verdict counts.
  func withVerdict<Result>(_ body: () throws(MigrationError) -> Result) throws(MigrationError) -> Result {
    do throws(MigrationError) { return try body() } catch { throw failure ?? error }
  }
}
