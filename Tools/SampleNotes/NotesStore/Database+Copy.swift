import Foundation

/// Copies of databases that nobody is using, though perhaps nobody has closed them either.
public enum DatabaseCopy {
  /// Makes a copy that is one file, complete and without a log.
  ///
  /// The app may have been killed: then its last changes lie in the log beside the database, and a copy of the database alone would lack them. During an
  /// export the container cannot be written, so the log can only be merged into a copy.
  public static func make(of database: URL, in directory: URL) throws -> URL {
    let copy = directory.appendingPathComponent(database.lastPathComponent)
    for ending in ["", "-wal", "-journal"] {
      let source = URL(fileURLWithPath: database.path + ending)
      guard ending.isEmpty || FileManager.default.fileExists(atPath: source.path) else { continue }
      // Not copyItem: it gives the copy its original's mode, and an export may not set modes.
      try Data(contentsOf: source, options: .mappedIfSafe).write(to: URL(fileURLWithPath: copy.path + ending))
    }
    let opened = try Database(copy, creates: false)
    try opened.run("PRAGMA wal_checkpoint(TRUNCATE)")
    try opened.run("PRAGMA journal_mode = DELETE")
    let answer = try opened.run("PRAGMA quick_check")
    guard answer == [[.text("ok")]] else { throw NotesError("\(database.lastPathComponent) is damaged") }
    return copy
  }
}
