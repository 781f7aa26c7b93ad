import Foundation

/// The notes of the current version, 3.0: `Notes.sqlite` in Application Support, photos in `Documents/Photos`.
public final class NotesStore {
  static let databaseName = "Notes.sqlite"
  static let photosName = "Photos"
  private static let schemaVersion: Int64 = 3

  private let database: Database
  private let photos: URL

  /// Opens the notes of an app, and makes what is missing.
  public init(in directories: AppDirectories) throws {
    try FileManager.default.createDirectory(at: directories.applicationSupport, withIntermediateDirectories: true)
    database = try Database(Self.database(in: directories), creates: true)
    photos = Self.photos(in: directories)
    try database.run("PRAGMA journal_mode = WAL")
    try database.run("PRAGMA foreign_keys = ON")
    try database.transaction { try Self.prepare(database) }
  }

  static func database(in directories: AppDirectories) -> URL {
    directories.applicationSupport.appendingPathComponent(databaseName)
  }

  static func photos(in directories: AppDirectories) -> URL {
    directories.documents.appendingPathComponent(photosName)
  }

  /// A photo by its name in a database, which may have come from elsewhere: a name that leads out of the directory is refused.
  static func file(named name: String, in directory: URL) throws -> URL {
    guard !["", ".", ".."].contains(name), !name.contains("/"), !name.contains("\0") else {
      throw NotesError("\"\(name)\" cannot be the name of a photo")
    }
    return directory.appendingPathComponent(name)
  }

  private static func prepare(_ database: Database) throws {
    switch try database.run("PRAGMA user_version").first?.first {
    case .integer(schemaVersion): return
    case .integer(0):
      try database.run(
        "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL, created INTEGER NOT NULL, photo TEXT)")
      try database.run(
        "CREATE TABLE tag (note INTEGER NOT NULL REFERENCES note (id), name TEXT NOT NULL, PRIMARY KEY (note, name))")
      try database.run("PRAGMA user_version = \(schemaVersion)")
    default: throw NotesError("\(databaseName) belongs to another version of this app")
    }
  }

  /// All notes, the oldest first.
  public func notes() throws -> [Note] {
    var tags: [Int64: [String]] = [:]
    for row in try database.run("SELECT note, name FROM tag ORDER BY name") {
      if let note = row[0].integer, let name = row[1].text { tags[note, default: []].append(name) }
    }
    return try database.run("SELECT id, text, created, photo FROM note ORDER BY created, id").map { row in
      Note(
        text: row[1].text ?? "", created: Date(timeIntervalSince1970: TimeInterval(row[2].integer ?? 0)),
        photo: try row[3].text.map { try Self.file(named: $0, in: photos) }, tags: tags[row[0].integer ?? 0] ?? [])
    }
  }

  /// Adds a note with all that belongs to it, or nothing.
  public func add(_ note: Note, photoBy transfer: Transfer) throws {
    let photo = try note.photo.map { try FileManager.default.place($0, in: photos, by: transfer) }
    try database.transaction {
      try database.run(
        "INSERT INTO note (text, created, photo) VALUES (?, ?, ?)", .text(note.text),
        .integer(Int64(note.created.timeIntervalSince1970)), photo.map { .text($0.lastPathComponent) } ?? .null)
      let row = database.lastRow
      for tag in note.tags { try database.run("INSERT INTO tag VALUES (?, ?)", .integer(row), .text(tag)) }
    }
  }
}
