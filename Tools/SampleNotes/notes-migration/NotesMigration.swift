import AppMigrationKit
import NotesStore

/// The extension of the sample app: hands its notes, photos and preferences out, and takes those of all its versions in.
@main
struct NotesMigration: ResourcesExporting, ResourcesImporting {
  let resourcesImportProgress = Progress(totalUnitCount: -1)

  private var directories: AppDirectories {
    AppDirectories(
      root: appContainer.containerRootDirectory, documents: appContainer.documentsDirectory,
      applicationSupport: appContainer.applicationSupportDirectory)
  }

  // MARK: Export

  /// The app may have been updated and not been launched since: what is exported is what is there.
  private var storedVersion: NotesVersion { NotesVersion(storedIn: directories) }

  private var parts: [NotesVersion.Part] {
    storedVersion.parts(in: directories).filter { FileManager.default.fileExists(atPath: $0.url.path) }
  }

  var resourcesVersion: String { storedVersion.rawValue }
  /// Photos, which are most of the data, are compressed already; the rest pays for the try.
  var resourcesCompressible: Bool { true }
  var resourcesSizeEstimate: Int {
    get async { parts.reduce(0) { $0 + size(of: $1.url) } }
  }

  func exportResources(to archiver: sending ResourcesArchiver, request: MigrationRequest) async throws {
    for part in parts {
      if part.isDatabase {
        let copy = try DatabaseCopy.make(of: part.url, in: FileManager.default.temporaryDirectory)
        try await archiver.appendItem(at: copy, pathInArchive: part.name)
      } else {
        try await archiver.appendItem(at: part.url, pathInArchive: part.name)
      }
    }
  }

  private func size(of url: URL) -> Int {
    let keys: Set<URLResourceKey> = [.isRegularFileKey, .fileSizeKey]
    let inside = FileManager.default.enumerator(at: url, includingPropertiesForKeys: Array(keys))
    let files = [url] + (inside?.compactMap { $0 as? URL } ?? [])
    return files.reduce(0) { sum, file in
      let values = try? file.resourceValues(forKeys: keys)
      return sum + (values?.isRegularFile == true ? values?.fileSize ?? 0 : 0)
    }
  }

  // MARK: Import

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {
    try emptyGroup()
    guard let version = NotesVersion(rawValue: request.sourceVersion) else {
      throw UnknownVersion(version: request.sourceVersion)
    }
    switch version {
    case .first: try add(FirstLayout(in: url).notes())
    case .second: try add(SecondLayout(in: url).notes())
    case .third: try moveParts(from: url)
    }
    let preferences = try Preferences(readingFrom: url.appendingPathComponent(NotesVersion.preferencesName))
    try preferences.write(to: directories.preferences)
    resourcesImportProgress.completedUnitCount += 1
  }

  /// The system empties the container, not the groups: what an earlier user has left there would be shown with the new notes.
  private func emptyGroup() throws {
    guard let group = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.org.example.notes")
    else { return }
    for item in try FileManager.default.contentsOfDirectory(at: group, includingPropertiesForKeys: nil) {
      try FileManager.default.removeItem(at: item)
    }
  }

  /// Adds notes of an older version one by one; their photos are moved.
  private func add(_ notes: [Note]) throws {
    resourcesImportProgress.totalUnitCount = Int64(notes.count) + 1
    let store = try NotesStore(in: directories)
    for note in notes {
      try Task.checkCancellation()
      try store.add(note, photoBy: .move)
      resourcesImportProgress.completedUnitCount += 1
    }
  }

  /// Nothing has changed since: the parts are moved to their places. Opening the store tells whether it is one.
  private func moveParts(from url: URL) throws {
    let parts = NotesVersion.third.parts(in: directories).filter { $0.name != NotesVersion.preferencesName }
    resourcesImportProgress.totalUnitCount = Int64(parts.count) + 1
    for part in parts {
      let arrived = url.appendingPathComponent(part.name)
      if FileManager.default.fileExists(atPath: arrived.path) {
        try FileManager.default.createDirectory(
          at: part.url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: arrived, to: part.url)
      }
      resourcesImportProgress.completedUnitCount += 1
    }
    _ = try NotesStore(in: directories).notes()
  }
}

/// The notes come from a version that this one does not know.
struct UnknownVersion: LocalizedError {
  let version: String

  var errorDescription: String? { "Notes of version \(version) cannot be read by this app." }
  var recoverySuggestion: String? { "Update the app on this machine and move your notes again." }
}
