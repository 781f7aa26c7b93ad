import AppMigrationKit

/// The exporter whose cost is measured: it appends every entry of the container as it is, directories as a whole; for the platform "each" every file in a call
/// of its own.
@main
struct DirectoryExtension: ResourcesExporting {
  var resourcesVersion: String { "1.0" }
  var resourcesCompressible: Bool { true }
  var resourcesSizeEstimate: Int { 0 }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    let root = appContainer.containerRootDirectory
    guard request.destinationPlatform.rawValue == "each" else {
      for name in try FileManager.default.contentsOfDirectory(atPath: root.path).sorted() {
        try await archiver.appendItem(at: root.appendingPathComponent(name))
      }
      return
    }
    for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
      let url = URL(fileURLWithPath: root.path + "/" + path, isDirectory: false)
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory), !isDirectory.boolValue else {
        continue
      }
      try await archiver.appendItem(at: url, pathInArchive: path)
    }
  }
}
