import CSQLite
import Foundation

/// A connection to a SQLite database.
final class Database {
  /// What is in a column.
  enum Value: Equatable {
    case null
    case integer(Int64)
    case text(String)

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
  }

  private let handle: OpaquePointer
  private let name: String

  /// Opens a database, and makes it if `creates` is true.
  init(_ file: URL, creates: Bool) throws {
    name = file.lastPathComponent
    var handle: OpaquePointer?
    let status = sqlite3_open_v2(
      file.path, &handle, SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0), nil)
    guard status == SQLITE_OK, let handle else {
      sqlite3_close(handle)
      throw NotesError("\(name) cannot be opened: \(String(cString: sqlite3_errstr(status)))")
    }
    self.handle = handle
    // Another process of the app may be writing.
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close(handle) }

  /// Runs one statement and gives the rows of its answer.
  @discardableResult
  func run(_ sql: String, _ values: Value...) throws -> [[Value]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(statement) }
    // SQLite copies the text before the call returns.
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (value, index) in zip(values, Int32(1)...) {
      let status =
        switch value {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
        case .text(let text): sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copies)
        }
      guard status == SQLITE_OK else { throw failure() }
    }
    var rows: [[Value]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append((0..<sqlite3_column_count(statement)).map { column(statement, $0) })
      case SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  /// Makes all changes of `body`, or none.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try run("BEGIN IMMEDIATE")
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      _ = try? run("ROLLBACK")
      throw error
    }
  }

  /// The number of the row that was inserted last.
  var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

  private func column(_ statement: OpaquePointer?, _ index: Int32) -> Value {
    switch sqlite3_column_type(statement, index) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
    default:
      let bytes = sqlite3_column_blob(statement, index)
      let count = Int(sqlite3_column_bytes(statement, index))
      return .text(String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self))
    }
  }

  private func failure() -> NotesError { NotesError("\(name): \(String(cString: sqlite3_errmsg(handle)))") }
}
