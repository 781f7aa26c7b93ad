import Foundation

/// How version 2.0 stored notes: `Notes.db` without tags, and `Images` beside it.
public struct SecondLayout {
  static let databaseName = "Notes.db"
  static let photosName = "Images"
  private let database: URL
  private let photos: URL

  /// The notes in a directory: Documents, or what an archive held.
  public init(in directory: URL) {
    database = directory.appendingPathComponent(Self.databaseName)
    photos = directory.appendingPathComponent(Self.photosName)
  }

  /// All notes.
  public func notes() throws -> [Note] {
    guard FileManager.default.fileExists(atPath: database.path) else { return [] }
    let opened = try Database(database, creates: false)
    return try opened.run("SELECT body, time, image FROM notes ORDER BY id").map { row in
      Note(
        text: row[0].text ?? "", created: Date(timeIntervalSince1970: TimeInterval(row[1].integer ?? 0)),
        photo: try row[2].text.map { try NotesStore.file(named: $0, in: photos) })
    }
  }

  /// Stores notes as version 2.0 did, copying their photos. Their tags are lost.
  public func write(_ notes: [Note]) throws {
    try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
    let opened = try Database(database, creates: true)
    try opened.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL, time INTEGER NOT NULL, image TEXT)")
    try opened.run("PRAGMA user_version = 2")
    for note in notes {
      let photo = try note.photo.map { try FileManager.default.place($0, in: photos, by: .copy) }
      try opened.run(
        "INSERT INTO notes (body, time, image) VALUES (?, ?, ?)", .text(note.text),
        .integer(Int64(note.created.timeIntervalSince1970)), photo.map { .text($0.lastPathComponent) } ?? .null)
    }
  }
}
