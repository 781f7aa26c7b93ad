import AppMigrationKit

/// The extension whose cost is measured. Its export appends every entry of the container as it is, directories as a whole; for the platform "each" every file in
/// a call of its own. Its import moves what comes at the top into the container.
@main
struct DirectoryExtension: ResourcesExporting, ResourcesImporting {
  let resourcesImportProgress = Progress(totalUnitCount: 1)
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

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    let root = appContainer.containerRootDirectory
    // A container has its standard directories from the start. They make room: the copy shall be like the original.
    for name in try FileManager.default.contentsOfDirectory(atPath: root.path) {
      try FileManager.default.removeItem(at: root.appendingPathComponent(name))
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      try FileManager.default.moveItem(at: url.appendingPathComponent(name), to: root.appendingPathComponent(name))
    }
    resourcesImportProgress.completedUnitCount = 1
  }
}
