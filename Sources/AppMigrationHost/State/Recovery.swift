package import MigrationWire

/// Cleans up after a run whose system was ended in the middle of it.
package enum Recovery {
  /// What was found.
  package enum Outcome: Sendable, Equatable {
    /// No run was interrupted.
    case nothing
    /// An export: nothing of it is left.
    case interruptedExport
    /// An import without a result: it has failed, its container is emptied or restored.
    case interruptedImport
    /// An import whose result was stored already.
    case finishedImport(isSuccess: Bool)
  }

  /// Cleans up, if there is something to be cleaned up. The caller holds the `system` lock.
  ///
  /// May itself be interrupted at any moment: the next call goes on, and comes to the same result.
  package static func recover(
    _ layout: ContainerLayout, stoppingOrphans: (_ lockPath: [UInt8]) throws(MigrationError) -> Void
  ) throws(MigrationError) -> Outcome {
    guard let state = try StateDirectory.open(layout) else { return .nothing }
    try state.removeUnfinished([StateName.journal, StateName.status])
    guard let journal = try MigrationJournal.read(layout, state) else { return .nothing }
    // Before anything is touched: an extension that is still alive would go on writing.
    try stoppingOrphans(layout.lockPath)
    let outcome: Outcome
    if journal.kind == .export {
      outcome = .interruptedExport
    } else if let stored = StatusStore.stored(state), stored.record.migrationIdentifier == journal.identifier {
      outcome = .finishedImport(isSuccess: stored.record.isSuccess)
      // A failure is stored after the restoration, so this finds nothing to do; but an old container is never to be lost.
      if !stored.record.isSuccess { try ContainerReplacement.restore(layout) }
    } else if journal.phase == .finishing {
      // The result was stored and forgotten since. Failures leave no old container behind, successes may.
      outcome = .finishedImport(isSuccess: try state.holds(StateName.previous))
    } else {
      outcome = .interruptedImport
      try undo(layout, journal)
      try StatusStore.write(
        StatusRecord(
          migrationIdentifier: journal.identifier, isSuccess: false, error: interruption, isInterrupted: true), layout)
    }
    try finish(layout)
    return outcome
  }

  /// The error of an interrupted import.
  package static var interruption: ErrorRecord {
    ErrorRecord(
      domain: StatusStore.errorDomain, code: StatusStore.interruptedCode,
      description: "The import was interrupted before it was complete.")
  }

  /// Gives the container back as it was before the extension could touch it: step 5 of a failure.
  static func undo(_ layout: ContainerLayout, _ journal: MigrationJournal) throws(MigrationError) {
    switch journal.phase {
    case .unpacking, .finishing: break
    case .replacing, .running:
      // Without `previous/` the container is still, or again, the old one.
      if journal.hasPrevious {
        try ContainerReplacement.restore(layout)
      } else {
        try ContainerReplacement.empty(layout)
      }
    }
  }

  /// Step 6: removes what only the run needed, and the journal last.
  static func finish(_ layout: ContainerLayout) throws(MigrationError) {
    guard let state = try StateDirectory.open(layout) else { return }
    try state.remove(StateName.previous)
    try state.remove(StateName.staging)
    if try state.holds(StateName.partialStaging) { try state.remove(StateName.partialStaging) }
    try state.remove(StateName.journal)
    // A cleared record has served: see `StatusStore.Stored`.
    if let stored = StatusStore.stored(state), stored.isCleared { try state.remove(StateName.status) }
  }
}
