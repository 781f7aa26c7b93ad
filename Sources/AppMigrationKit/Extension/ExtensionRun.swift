internal import ArchiveIO
package import MigrationWire

/// One run of an extension over a socket, from `begin` to `finished` or `failed`.
package enum ExtensionRun {
  /// Where the context of the run is seen.
  package enum Scope: Sendable {
    /// In the whole process, which serves this run alone.
    case process
    /// In the tasks of the run, so that a process may serve several at once. Dispatch queues and detached tasks do not see it.
    case tasks
  }

  /// The longest `resourcesVersion`, in bytes of UTF-8.
  package static let maximumVersionByteCount = 1024

  /// Serves a run.
  ///
  /// - Parameters:
  ///   - onLoss: called when the system is gone.
  ///   - onFailure: called with the error that the extension has thrown, before it is told to the system.
  /// - Throws: when the outcome could not be told. An error of the extension is told to the system and not thrown.
  @concurrent
  package static func serve(
    _ type: any AppMigrationExtension.Type, over socket: MessageSocket, scope: Scope,
    onLoss: @escaping @Sendable () -> Void = {}, onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
  ) async throws {
    try await serve(opened: type, over: socket, scope: scope, onLoss: onLoss, onFailure: onFailure)
  }

  private static func serve<Extension: AppMigrationExtension>(
    opened type: Extension.Type, over socket: MessageSocket, scope: Scope, onLoss: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) async throws {
    let connection = Connection(socket)
    let receiver = Receiver(socket, connection, onLoss: onLoss)
    defer { receiver.stop() }
    let task = try await receiver.begin()
    let work = Task {
      let context = try ExtensionContext(task)
      switch scope {
      case .process:
        ExtensionContext.setDefault(context)
        try await perform(task, type, connection, receiver)
      case .tasks:
        try await ExtensionContext.$bound.withValue(context) {
          try await perform(task, type, connection, receiver)
        }
      }
    }
    receiver.onCancel { work.cancel() }
    let outcome: ExtensionMessage
    switch await work.result {
    case .success: outcome = .finished
    case .failure(let error):
      onFailure(error)
      outcome = .failed(ErrorRecord(converting: error))
    }
    try await connection.send(outcome)
  }

  /// One instance describes itself and does the work.
  private static func perform<Extension: AppMigrationExtension>(
    _ task: MigrationTask, _ type: Extension.Type, _ connection: Connection, _ receiver: Receiver
  ) async throws {
    let instance = await MainActor.run { Extension() }
    let exporter = instance as? any ResourcesExportingWithOptions
    let importer = instance as? any ResourcesImporting
    var description = ExtensionDescription(exports: exporter != nil, imports: importer != nil)
    if case .import = task.action {} else if let exporter { try await exporter.describe(&description) }
    try await connection.send(.description(description))
    switch task.action {
    case .describe: return
    case .export(let platform, let options):
      try await receiver.proceed()
      guard let exporter else { throw ExtensionFault("The extension cannot export.") }
      try await exporter.export(over: connection, platform: platform, options: options)
    case .import(let stagingPath, let version, let source):
      try await receiver.proceed()
      guard let importer else { throw ExtensionFault("The extension cannot import.") }
      let request = ResourcesImportRequest(sourceAppIdentifier: MigrationAppIdentifier(source), sourceVersion: version)
      let reporter = ProgressReporter(importer, connection)
      defer { reporter.stop() }
      try await importer.importResources(at: try URL(directoryBytes: stagingPath), request: request)
    }
  }
}

extension ResourcesExportingWithOptions {
  fileprivate func describe(_ description: inout ExtensionDescription) async throws {
    description.sizeEstimate = Int64(await resourcesSizeEstimate)
    description.version = resourcesVersion
    if description.version.utf8.count > ExtensionRun.maximumVersionByteCount {
      throw ExtensionFault("resourcesVersion has more than \(ExtensionRun.maximumVersionByteCount) bytes.")
    }
    description.isCompressible = resourcesCompressible
  }

  fileprivate func export(
    over connection: Connection, platform: String, options: [MigrationTask.Option]
  ) async throws {
    var values: [OptionsType: Data] = [:]
    for option in options {
      if let key = OptionsType(rawValue: option.key) { values[key] = Data(option.value) }
    }
    let request = MigrationRequestWithOptions(destinationPlatform: MigrationPlatform(platform), options: values)
    try await exportResources(to: ResourcesArchiver(sink: connection), request: request)
    try await connection.endItems()
  }
}

/// What is wrong with an extension or its task, in a sentence.
struct ExtensionFault: LocalizedError {
  private let message: String

  init(_ message: String) { self.message = message }

  var errorDescription: String? { message }
}

extension ExtensionContext {
  /// What a task grants.
  package init(_ task: MigrationTask) throws {
    self.init(
      bundleIdentifier: task.bundleIdentifier, containerURL: try URL(directoryBytes: task.containerPath))
    for group in task.groups { groups[group.identifier] = try URL(directoryBytes: group.path) }
  }
}

extension MigrationAppIdentifier {
  /// An identifier out of a message.
  package init(_ source: SourceApp) {
    self.init(
      storeIdentifier: StoreIdentifier(source.storeIdentifier), bundleIdentifier: source.bundleIdentifier,
      platform: MigrationPlatform(source.platform))
  }
}

extension URL {
  /// The file URL of a directory.
  package init(directoryBytes path: [UInt8]) throws {
    guard let text = String(validating: path, as: UTF8.self) else {
      throw ExtensionFault("The path \(String(decoding: path, as: UTF8.self)) is not UTF-8; Foundation cannot use it.")
    }
    self.init(fileURLWithPath: text, isDirectory: true)
  }
}
