import AppMigrationKit

/// A small extension for tests: exports all of Documents, one call per file, and takes two formats back.
@main
struct SampleExtension: ResourcesExporting, ResourcesImporting {
  enum Fault: Error {
    case notOnMainThread
    case unknownVersion
  }

  let resourcesImportProgress = Progress(totalUnitCount: 100)
  let wasMadeOnMainThread: Bool

  @MainActor init() { wasMadeOnMainThread = Thread.isMainThread }

  var resourcesVersion: String { "2.0" }
  var resourcesCompressible: Bool { true }

  var resourcesSizeEstimate: Int {
    get async { files().reduce(0) { $0 + $1.size } }
  }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    let isMain = await MainActor.run { Thread.isMainThread }
    guard wasMadeOnMainThread, isMain else { throw Fault.notOnMainThread }
    let root = appContainer.documentsDirectory.path + "/"
    for file in files() {
      try await archiver.appendItem(at: file.url, pathInArchive: String(file.url.path.dropFirst(root.count)))
    }
  }

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    switch request.sourceVersion {
    case "1.0", "2.0":
      let documents = appContainer.documentsDirectory
      try FileManager.default.createDirectory(at: documents, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() {
        try FileManager.default.moveItem(
          at: url.appendingPathComponent(name), to: documents.appendingPathComponent(name))
      }
      resourcesImportProgress.completedUnitCount = 100
    default:
      throw Fault.unknownVersion
    }
  }

  private func files() -> [(url: URL, size: Int)] {
    let keys: [URLResourceKey] = [.isRegularFileKey, .fileSizeKey]
    guard
      let found = FileManager.default.enumerator(at: appContainer.documentsDirectory, includingPropertiesForKeys: keys)
    else { return [] }
    var files: [(url: URL, size: Int)] = []
    for case let url as URL in found {
      guard let values = try? url.resourceValues(forKeys: Set(keys)), values.isRegularFile == true else { continue }
      files.append((url, values.fileSize ?? 0))
    }
    return files.sorted { $0.url.path < $1.url.path }
  }
}
