internal import ArchiveEngine
internal import ArchiveIO
internal import Foundation

/// The migration under way, as it is on the disk. Whoever finds one while nobody holds the `system` lock sees an interrupted run.
package struct MigrationJournal: Codable, Sendable, Equatable {
  /// What is done.
  package enum Kind: String, Codable, Sendable { case export, `import` }

  /// How far an import is; each phase is on the disk before what it is named after begins.
  package enum Phase: String, Codable, Sendable {
    /// The archive is being unpacked; the container is as it was.
    case unpacking
    /// The old container may have been moved aside, a new one made.
    case replacing
    /// The extension may have changed the container.
    case running
    /// The result is stored; only cleaning up is left.
    case finishing
  }

  /// Tells this migration from all others; the status of its result carries it too.
  package var identifier: String
  /// What is done.
  package var kind: Kind
  /// How far it is.
  package var phase: Phase
  /// Whether the old container was moved to `previous/` and is to be restored after a failure.
  package var hasPrevious: Bool
  /// The extension's process.
  package var processID: Int32?
  /// When that process was started (field 22 of `/proc/PID/stat`): process numbers are used again.
  package var startTime: UInt64?

  /// Makes a journal with a new random identifier.
  package init(
    kind: Kind, phase: Phase = .unpacking, hasPrevious: Bool = false, identifier: String = UUID().uuidString
  ) {
    self.identifier = identifier
    self.kind = kind
    self.phase = phase
    self.hasPrevious = hasPrevious
  }

  private static let maximumByteCount = 64 << 10

  /// Brings the journal to the disk.
  package func write(to layout: ContainerLayout) throws(MigrationError) {
    try StateDirectory.make(layout).write(try StateCoding.encode(self), to: StateName.journal)
  }

  /// The journal on the disk; nil if no migration is under way. A damaged one is an error: what it stands for is not known.
  package static func read(_ layout: ContainerLayout) throws(MigrationError) -> MigrationJournal? {
    guard let state = try StateDirectory.open(layout) else { return nil }
    return try read(layout, state)
  }

  static func read(
    _ layout: ContainerLayout, _ state: StateDirectory
  ) throws(MigrationError) -> MigrationJournal? {
    guard let bytes = try state.read(StateName.journal, limit: maximumByteCount) else { return nil }
    if let journal = StateCoding.decode(MigrationJournal.self, bytes) { return journal }
    throw MigrationError(
      .container,
      """
      \(PathText.printable(layout.journalPath)) is damaged, so it is not known whether a migration has left the container of \
      \(layout.bundleIdentifier) half done. Look at \(PathText.printable(layout.containerPath)) and at \
      \(PathText.printable(layout.previousPath)) (the contents before, if it exists), then remove the journal.
      """)
  }

  /// Removes the journal from the disk.
  package static func remove(_ layout: ContainerLayout) throws(MigrationError) {
    try StateDirectory.open(layout)?.remove(StateName.journal)
  }
}

/// How records are stored: JSON with sorted keys, so that a person can read it.
enum StateCoding {
  static func encode(_ value: some Encodable) throws(MigrationError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .millisecondsSince1970
    do { return Array(try encoder.encode(value)) + [0x0A] } catch {
      throw MigrationError(.system, "cannot store a record: \(error)")
    }
  }

  /// Nil for what is no such record.
  static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    return try? decoder.decode(type, from: Data(bytes))
  }
}
