public import ArchiveEngine
internal import ArchiveIO
public import MigrationWire

/// What an import is about.
public struct ImportOptions: Sendable {
  /// Where an archive comes from.
  public enum Input: Sendable {
    /// A file.
    case file([UInt8])
    /// An open pipe, socket or file, which stays the caller's.
    case descriptor(Int32)
  }

  /// Where extension and container are.
  package var place = ExtensionPlace()
  /// Where the archive comes from.
  public var input: Input
  /// Another container than the usual one of the app.
  public var containerPath: [UInt8]? {
    get { place.containerPath }
    set { place.containerPath = newValue }
  }
  /// Whether a container that is not empty is replaced; else it is refused.
  public var replaces = false
  /// Version of the data, in place of what the archive says.
  public var sourceVersion: String?
  /// Platform of the source app, in place of what the archive says.
  public var sourcePlatform: String?
  /// Bundle identifier of the source app, in place of what the archive says.
  public var sourceBundleIdentifier: String?
  /// Store of the source app, in place of what the archive says.
  public var sourceStoreIdentifier: String?
  /// Bounds on what the archive may hold; free space is another.
  public var limits = ReadLimits.imports
  /// How long the extension may take.
  public var timeouts = MigrationTimeouts()
  /// Whether a kernel that cannot enforce everything ends the import.
  public var requiresSandbox = false
  /// Decoding threads; 0 takes the cores that this process may use.
  public var threadCount = 0

  /// An import with the defaults.
  ///
  /// - Parameters:
  ///   - executable: the extension; its entitlements lie beside it.
  ///   - input: where the archive comes from.
  public init(executable: [UInt8], input: Input) {
    self.init(ExtensionPlace(executable: executable), input: input)
  }

  package init(_ place: ExtensionPlace, input: Input) {
    self.place = place
    self.input = input
  }
}

/// What an import has done.
public struct ImportSummary: Sendable {
  /// Files, directories and links that arrived.
  public var itemCount: UInt64
  /// Bytes of the files among them.
  public var byteCount: UInt64
  /// Version of the data.
  public var sourceVersion: String
  /// The app that they come from.
  public var source: SourceApp
  /// From the first look at the archive to the stored status.
  public var duration: Duration
  /// What the sandbox could enforce.
  public var sandbox: SandboxReport
}

/// One import, from the locks to the stored status. Every step that has to survive a crash is in ``ImportTransaction``.
struct ImportSession {
  private let options: ImportOptions
  private let cancellation: CancellationToken
  private let report: @Sendable (MigrationEvent) -> Void

  init(
    _ options: ImportOptions, cancellation: CancellationToken, onEvent: @escaping @Sendable (MigrationEvent) -> Void
  ) {
    self.options = options
    self.cancellation = cancellation
    report = onEvent
  }

  func run() throws(MigrationError) -> ImportSummary {
    let app = try ExtensionApp(options.place)
    // Only the place: an archive that is refused changes nothing in the container, and one that is replaced comes back as it was.
    try app.layout.prepareRoot()
    let lock = try MigrationLock.acquire(app.layout, stoppingOrphans: ExtensionApp.stopOrphans)
    defer { lock.release() }
    var transaction = try ImportTransaction(app.layout, replacing: options.replaces)
    let result: Result<ImportSummary, MigrationError>
    do throws(MigrationError) {
      result = .success(try importArchive(app, lock, &transaction))
    } catch { result = .failure(error) }
    switch result {
    case .success(let summary):
      do throws(MigrationError) { try transaction.finish() } catch {
        // The result is stored; what is left the next run removes.
        report(.warning("the import has succeeded, but cleaning up has not: \(error.message)"))
      }
      return summary
    case .failure(let error):
      do throws(MigrationError) {
        try transaction.fail(ErrorRecord(error))
        try transaction.finish()
      } catch let second {
        // The journal stays, and the next run goes on from there.
        throw MigrationError(
          error.code, "\(error.message). After that, cleaning up failed too: \(second.message)",
          extensionError: error.extensionError)
      }
      throw error
    }
  }

  private func importArchive(
    _ app: ExtensionApp, _ lock: MigrationLock, _ transaction: inout ImportTransaction
  ) throws(MigrationError) -> ImportSummary {
    let beginning = ContinuousClock.now
    let unpacked = try Unpacking(
      options, app, cancellation: cancellation, report: report
    ).run()
    if cancellation.isCancelled { throw MigrationError(.cancelled, "cancelled") }
    try transaction.didUnpack()
    try app.prepareContainer()
    let probe = ImportProbe(app.layout.containerPath, timeouts.hang)
    let noted = transaction.willRun()
    let process = try app.start(
      .import(stagingPath: app.layout.stagingPath), lock: lock, requiresSandbox: options.requiresSandbox,
      willExecute: noted)
    let run = SupervisedExtension(
      process, timeouts: timeouts, cancellation: cancellation,
      probe: SupervisedExtension.Probe(isWorking: { probe.isWorking($0) }))
    defer { run.close() }
    try run.send(
      .begin(
        app.task(
          .import(stagingPath: app.layout.stagingPath, version: unpacked.version, source: unpacked.source))))
    try converse(run, probe)
    try run.finish()
    try app.syncGroups()
    try transaction.succeed()
    return ImportSummary(
      itemCount: UInt64(unpacked.tree.items), byteCount: UInt64(max(0, unpacked.tree.bytes)),
      sourceVersion: unpacked.version, source: unpacked.source, duration: ContinuousClock.now - beginning,
      sandbox: process.sandbox)
  }

  private var timeouts: MigrationTimeouts { options.timeouts }

  private func converse(_ run: SupervisedExtension, _ probe: ImportProbe) throws(MigrationError) {
    switch try run.receive().message {
    case .description(let description):
      guard description.imports else {
        throw MigrationError(.extensionFailed, "the extension does not import (it is no ResourcesImporting)")
      }
      report(.described(description))
    case .failed(let error): throw MigrationError(extension: error)
    default: throw run.violation("its first message is no description")
    }
    probe.begin()
    try run.send(.proceed)
    while true {
      switch try run.receive().message {
      case .progress(let completed, let total):
        probe.noteProgress()
        report(.importing(completed: completed, total: total))
      case .finished:
        if cancellation.isCancelled { throw MigrationError(.cancelled, "cancelled") }
        return
      case .failed(let error):
        if cancellation.isCancelled { throw MigrationError(.cancelled, "cancelled") }
        throw MigrationError(extension: error)
      case .description, .item: throw run.violation("a message that does not belong to an import")
      }
    }
  }
}

extension ErrorRecord {
  /// What the app gets to see of a failure: the extension's own error, or what the system says.
  init(_ error: MigrationError) {
    self =
      error.extensionError
      ?? ErrorRecord(domain: StatusStore.errorDomain, code: StatusStore.failureCode, description: error.message)
  }
}
