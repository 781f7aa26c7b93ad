internal import AppMigrationKit
internal import ArchiveIO

/// An exporter whose work a test gives as a closure.
///
/// The type is all that an extension's process knows; the closure comes from the path of the container, which is the test's own.
struct ScriptedExporter: ResourcesExporting {
  typealias Work = @concurrent @Sendable (ScriptedExporter, sending ResourcesArchiver) async throws -> Void

  private static let scripts = Locked<[String: Work]>([:])

  static func setScript(_ container: String, _ work: @escaping Work) {
    scripts.withLock { $0[container] = work }
  }

  var resourcesSizeEstimate: Int { get async { 77 } }
  var resourcesVersion: String { "scripted" }
  var resourcesCompressible: Bool { false }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    let path = appContainer.containerRootDirectory.path
    guard let work = Self.scripts.withLock({ $0[path] }) else { throw CocoaError(.featureUnsupported) }
    try await work(self, archiver)
  }
}

/// An importer whose work a test gives as a closure.
struct ScriptedImporter: ResourcesImporting {
  typealias Work = @concurrent @Sendable (ScriptedImporter, URL, ResourcesImportRequest) async throws -> Void

  private static let scripts = Locked<[String: Work]>([:])
  private static let readings = Locked<[String: Int64]>([:])

  static func setScript(_ container: String, _ work: @escaping Work) {
    scripts.withLock { $0[container] = work }
  }

  /// Another object each time; it has come as far as it was read often, up to 5.
  var resourcesImportProgress: Progress {
    let progress = Progress(totalUnitCount: 5)
    let path = appContainer.containerRootDirectory.path
    progress.completedUnitCount = Self.readings.withLock { readings in
      readings[path, default: -1] += 1
      return min(readings[path] ?? 0, 5)
    }
    return progress
  }

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    let path = appContainer.containerRootDirectory.path
    guard let work = Self.scripts.withLock({ $0[path] }) else { throw CocoaError(.featureUnsupported) }
    try await work(self, url, request)
  }
}

/// Keeps the items that an archiver gives it.
final class ItemKeeper: ItemSink {
  private let kept = Locked<[OutgoingItem]>([])

  var items: [OutgoingItem] { kept.withLock { $0 } }

  func append(_ item: OutgoingItem) async throws { kept.withLock { $0.append(item) } }
}

/// Drops the items that an archiver gives it.
struct ItemDropper: ItemSink {
  func append(_ item: OutgoingItem) async throws {}
}

/// An archiver for several tasks at once, which its type does not allow and its calls must bear.
struct SharedArchiver: @unchecked Sendable {
  let archiver: ResourcesArchiver

  init(_ archiver: ResourcesArchiver) { self.archiver = archiver }
}
