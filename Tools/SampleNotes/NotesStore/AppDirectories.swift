import Foundation

/// Where the app keeps its data.
public struct AppDirectories: Sendable {
  /// What the user sees.
  public let documents: URL
  /// What the app needs.
  public let applicationSupport: URL
  /// The file of the preferences.
  public let preferences: URL

  /// Finds the directories in the container of an app.
  public init(root: URL, documents: URL, applicationSupport: URL) {
    self.documents = documents
    self.applicationSupport = applicationSupport
    preferences = root.appendingPathComponent("Library/Preferences/org.example.notes.plist")
  }
}

/// The app's versions that differ in how they store notes.
public enum NotesVersion: String, CaseIterable, Sendable {
  /// A text file for each note, its photo beside it.
  case first = "1.0"
  /// A database, photos in a directory beside it; no tags.
  case second = "2.0"
  /// A database with tags in Application Support, photos in Documents.
  case third = "3.0"

  /// A part of the data: its name in an archive, and its place in the container.
  public struct Part: Sendable {
    /// The name in an archive.
    public let name: String
    /// The place in the container.
    public let url: URL
    /// Whether it is a database, of which a plain copy may be incomplete.
    public var isDatabase = false
  }

  /// The version that has stored what is in the container. A new one belongs to the newest version.
  public init(storedIn directories: AppDirectories) {
    self =
      Self.allCases.reversed().first { version in
        version.notes(in: directories).contains { FileManager.default.fileExists(atPath: $0.url.path) }
      } ?? .third
  }

  /// The parts that there may be.
  public func parts(in directories: AppDirectories) -> [Part] {
    notes(in: directories) + [Part(name: Self.preferencesName, url: directories.preferences)]
  }

  /// The name of the preferences in archives of all versions.
  public static let preferencesName = "Preferences.plist"

  private func notes(in directories: AppDirectories) -> [Part] {
    let documents = directories.documents
    switch self {
    case .first:
      return [Part(name: FirstLayout.name, url: documents.appendingPathComponent(FirstLayout.name))]
    case .second:
      return [
        Part(
          name: SecondLayout.databaseName, url: documents.appendingPathComponent(SecondLayout.databaseName),
          isDatabase: true),
        Part(name: SecondLayout.photosName, url: documents.appendingPathComponent(SecondLayout.photosName)),
      ]
    case .third:
      return [
        Part(name: NotesStore.databaseName, url: NotesStore.database(in: directories), isDatabase: true),
        Part(name: NotesStore.photosName, url: NotesStore.photos(in: directories)),
      ]
    }
  }
}
