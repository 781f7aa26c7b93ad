public import Foundation
public import MigrationWire

/// The result of the last import.
public struct StatusRecord: Codable, Sendable, Equatable {
  /// The migration whose result it is.
  public var migrationIdentifier: String
  /// Whether the import succeeded.
  public var isSuccess: Bool
  /// Why it failed.
  public var error: ErrorRecord?
  /// Whether it failed because the system was ended in the middle of it.
  public var isInterrupted: Bool
  /// When the result was stored.
  public var date: Date

  /// Makes a record.
  public init(
    migrationIdentifier: String, isSuccess: Bool, error: ErrorRecord? = nil, isInterrupted: Bool = false,
    date: Date = Date()
  ) {
    self.migrationIdentifier = migrationIdentifier
    self.isSuccess = isSuccess
    self.error = error
    self.isInterrupted = isInterrupted
    self.date = date
  }
}

/// Keeps the result of the last import until the app clears it.
package enum StatusStore {
  /// Domain of the errors that stand for the system's own findings.
  package static let errorDomain = "AppMigrationHost"
  /// The import was interrupted.
  package static let interruptedCode = 1
  /// The stored result cannot be read.
  package static let damagedCode = 2
  /// The system ended the import; the description says why.
  package static let failureCode = 3

  /// What is on the disk. A cleared record is kept while its migration has a journal: without it, whoever cleans up after an interruption
  /// would take a success that the app has already seen for an import without a result, and would empty the container.
  struct Stored: Codable {
    var record: StatusRecord
    var isCleared = false
  }

  /// Errors of extensions come in messages of at most 160 KiB; JSON may need six bytes for one.
  private static let maximumByteCount = 4 << 20

  /// The result; nil if there is none or it was cleared. Changes nothing. A file that cannot be understood is a failure that says so.
  package static func read(_ layout: ContainerLayout) throws(MigrationError) -> StatusRecord? {
    guard let state = try StateDirectory.open(layout), let stored = stored(state), !stored.isCleared else { return nil }
    return stored.record
  }

  /// Stores a result durably in place of the last one.
  package static func write(_ record: StatusRecord, _ layout: ContainerLayout) throws(MigrationError) {
    try StateDirectory.make(layout).write(
      try StateCoding.encode(Stored(record: record)), to: StateName.status)
  }

  /// Forgets the result, whatever it is.
  package static func clear(_ layout: ContainerLayout) throws(MigrationError) {
    guard let state = try StateDirectory.open(layout), var stored = stored(state) else { return }
    if try state.holds(StateName.journal) {
      stored.isCleared = true
      try state.write(try StateCoding.encode(stored), to: StateName.status)
    } else {
      try state.remove(StateName.status)
    }
  }

  /// What is stored, cleared records too.
  static func stored(_ state: StateDirectory) -> Stored? {
    do throws(MigrationError) {
      guard let bytes = try state.read(StateName.status, limit: maximumByteCount) else { return nil }
      if let stored = StateCoding.decode(Stored.self, bytes) { return stored }
      return damaged("it is no status record")
    } catch {
      return damaged(error.message)
    }
  }

  private static func damaged(_ reason: String) -> Stored {
    Stored(
      record: StatusRecord(
        migrationIdentifier: "", isSuccess: false,
        error: ErrorRecord(
          domain: errorDomain, code: damagedCode,
          description: "The stored result of the last import cannot be read: \(reason)"),
        date: Date(timeIntervalSince1970: 0)))
  }
}
