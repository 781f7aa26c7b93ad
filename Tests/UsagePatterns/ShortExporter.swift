// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import AppMigrationKit

/// The shortest exporter: one directory. Its estimate is read with `await`.
public struct ShortExporter: ResourcesExporting {
  public init() {}

  public var resourcesVersion: String { "1" }
  public var resourcesCompressible: Bool { false }

  public var resourcesSizeEstimate: Int {
    get async { await Measurement.bytes(below: appContainer.documentsDirectory) }
  }

  public func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    try await archiver.appendItem(at: appContainer.documentsDirectory)
  }
}

/// Sums up the sizes of files, and adds a tenth.
enum Measurement {
  static func bytes(below directory: URL) async -> Int {
    let keys: Set<URLResourceKey> = [.fileSizeKey]
    let found = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: Array(keys))
    var total = 0
    while let url = found?.nextObject() as? URL {
      total += (try? url.resourceValues(forKeys: keys).fileSize) ?? 0
    }
    return total + total / 10
  }
}
