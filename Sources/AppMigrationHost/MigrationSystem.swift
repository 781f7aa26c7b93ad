public import ArchiveIO
public import MigrationWire

/// The system that runs migrations: starts extensions in a sandbox, owns the archive, keeps the state.
///
/// All calls block; `cancellation` ends them. Many may run at once in one process, one for each app.
public enum MigrationSystem {
  /// Lets an extension export its app's data.
  ///
  /// - Throws: ``MigrationError``; no archive is left then.
  public static func export(
    _ options: ExportOptions, cancellation: CancellationToken = CancellationToken(),
    onEvent: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
  ) throws(MigrationError) -> ExportSummary {
    try ExportSession(options, cancellation: cancellation, onEvent: onEvent).run()
  }

  /// Unpacks an archive and lets an extension import it.
  ///
  /// - Throws: ``MigrationError``; the container is empty then, or as it was before, and the failure is stored for the app.
  public static func importArchive(
    _ options: ImportOptions, cancellation: CancellationToken = CancellationToken(),
    onEvent: @escaping @Sendable (MigrationEvent) -> Void = { _ in }
  ) throws(MigrationError) -> ImportSummary {
    try ImportSession(options, cancellation: cancellation, onEvent: onEvent).run()
  }

  /// Asks an extension what it would export.
  public static func describe(
    executable: [UInt8], containerPath: [UInt8]? = nil, timeouts: MigrationTimeouts = .init(),
    cancellation: CancellationToken = CancellationToken()
  ) throws(MigrationError) -> ExtensionDescription {
    try describe(
      ExtensionPlace(executable: executable, containerPath: containerPath), timeouts: timeouts,
      cancellation: cancellation)
  }

  package static func describe(
    _ place: ExtensionPlace, timeouts: MigrationTimeouts = .init(),
    cancellation: CancellationToken = CancellationToken()
  ) throws(MigrationError) -> ExtensionDescription {
    let app = try ExtensionApp(place)
    try app.requireContainer()
    let process = try app.start(.export, lock: nil, requiresSandbox: false)
    let run = SupervisedExtension(process, timeouts: timeouts, cancellation: cancellation, probe: .init())
    defer { run.close() }
    try run.send(.begin(app.task(.describe)))
    switch try run.receive().message {
    case .description(let description):
      return description
    case .failed(let error): throw MigrationError(extension: error)
    default: throw run.violation("its first message is no description")
    }
  }

  /// The result of an app's last import; nil when there is none or the app has cleared it. Changes nothing.
  ///
  /// A migration that was interrupted and not yet cleaned up counts as a failure.
  public static func status(
    bundleIdentifier: String, containerPath: [UInt8]? = nil
  ) throws(MigrationError) -> StatusRecord? {
    try MigrationState.status(ContainerLayout(bundleIdentifier: bundleIdentifier, containerPath: containerPath))
  }

  /// Forgets the result of an app's last import, a failure too. An import that was interrupted is cleaned up first: there is nothing else to
  /// be forgotten of it.
  ///
  /// Throws ``MigrationError/Code/busy`` while a migration is under way.
  public static func clearStatus(bundleIdentifier: String, containerPath: [UInt8]? = nil) throws(MigrationError) {
    let layout = try ContainerLayout(bundleIdentifier: bundleIdentifier, containerPath: containerPath)
    guard let state = try StateDirectory.open(layout) else { return }
    // Without the lock a result that is being stored could be lost.
    let system = try SystemLock.take(
      layout, state, otherwise: "a migration of \(bundleIdentifier) is under way; its result comes when it has ended")
    defer { withExtendedLifetime(system) {} }
    _ = try Recovery.recover(layout, stoppingOrphans: ExtensionApp.stopOrphans)
    try StatusStore.clear(layout)
  }
}
