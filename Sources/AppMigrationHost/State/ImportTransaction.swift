internal import ArchiveEngine
package import ArchiveIO
package import MigrationWire

/// The durable steps of an import, in the order that makes every crash recoverable. See the article *Design*.
///
/// Call in this order: ``init(_:replacing:)``, ``makeStaging()``, ``didUnpack()``, ``willRun()``, then ``succeed()`` or
/// ``fail(_:isInterrupted:)``, which may come at any time; at last ``finish()``. The caller holds a ``MigrationLock``.
package struct ImportTransaction: ~Copyable {
  /// What is on the disk as the journal.
  package private(set) var journal: MigrationJournal
  private let layout: ContainerLayout
  private let isReplacing: Bool

  /// Step 1. Refuses a container that is not empty, unless it is to be replaced: a failure empties it.
  package init(_ layout: ContainerLayout, replacing: Bool) throws(MigrationError) {
    self.layout = layout
    isReplacing = replacing
    journal = MigrationJournal(kind: .import)
    if !replacing, try !ContainerReplacement.isEmpty(layout) {
      throw MigrationError(
        .container,
        "the container \(PathText.printable(layout.containerPath)) is not empty; --replace replaces what is in it")
    }
    try journal.write(to: layout)
  }

  /// Makes an empty staging directory, mode 0700, open for reading; what an older run left in its place goes.
  package func makeStaging() throws(MigrationError) -> SharedDescriptor {
    let state = try StateDirectory.make(layout)
    try state.remove(StateName.staging)
    do throws(SystemError) {
      try FileSystem.makeDirectory(at: state.descriptor.rawValue, StateName.staging, mode: 0o700)
      return SharedDescriptor(
        try FileSystem.open(at: state.descriptor.rawValue, StateName.staging, [.readOnly, .directory, .noFollow]))
    } catch {
      throw .place("make", layout.stagingPath, error)
    }
  }

  /// The end of step 2, and step 3: what was unpacked is on the disk; the old container is moved aside if it is to be replaced.
  package mutating func didUnpack() throws(MigrationError) {
    try syncFileSystem(of: layout.stagingPath)
    guard isReplacing else { return }
    journal.phase = .replacing
    journal.hasPrevious = true
    try journal.write(to: layout)
    try ContainerReplacement.moveAside(layout)
  }

  /// Step 4, before the extension may touch anything.
  ///
  /// - Returns: what brings the number and the start time of its process to the disk; to be called when the process exists and before it executes
  ///   anything of the extension.
  package mutating func willRun() -> @Sendable (Int32, UInt64) throws(MigrationError) -> Void {
    journal.phase = .running
    let (journal, layout) = (journal, layout)
    return { processID, startTime throws(MigrationError) in
      var noted = journal
      (noted.processID, noted.startTime) = (processID, startTime)
      try noted.write(to: layout)
    }
  }

  /// Step 5 of a success: the container is on the disk, then the result.
  package mutating func succeed() throws(MigrationError) {
    try syncFileSystem(of: layout.containerPath)
    try StatusStore.write(StatusRecord(migrationIdentifier: journal.identifier, isSuccess: true), layout)
  }

  /// Step 5 of a failure: the container is emptied or restored, then the result is stored. The extension must be gone.
  package mutating func fail(_ error: ErrorRecord, isInterrupted: Bool = false) throws(MigrationError) {
    try Recovery.undo(layout, journal)
    try StatusStore.write(
      StatusRecord(
        migrationIdentifier: journal.identifier, isSuccess: false, error: error, isInterrupted: isInterrupted), layout)
  }

  /// Step 6.
  package consuming func finish() throws(MigrationError) { try Recovery.finish(layout) }

  private func syncFileSystem(of path: [UInt8]) throws(MigrationError) {
    do throws(SystemError) {
      let directory = try FileSystem.open(at: FileSystem.currentDirectory, path, [.readOnly, .directory, .noFollow])
      try FileSystem.syncFileSystem(directory.rawValue)
    } catch {
      throw .place("bring to the disk", path, error)
    }
  }
}
