import AppMigrationHost
import ArchiveIO
import MigrationWire
import TestSupport
import Testing

/// Each test runs in a process of its own, as there is one fault a process.
@Suite(.timeLimit(.minutes(10)), .enabled(if: RecoveryScenario.hasFaults, "needs a debug build"))
struct RecoveryTests {
  @Test func importThatSucceeds() async {
    await #expect(processExitsWith: .success) { try Self.cutEverywhere(RecoveryScenario()) }
  }
  @Test func replacementThatSucceeds() async {
    await #expect(processExitsWith: .success) { try Self.cutEverywhere(RecoveryScenario(isReplacing: true)) }
  }
  @Test func importThatFails() async {
    await #expect(processExitsWith: .success) { try Self.cutEverywhere(RecoveryScenario(fails: true)) }
  }
  @Test func replacementThatFails() async {
    await #expect(processExitsWith: .success) {
      try Self.cutEverywhere(RecoveryScenario(isReplacing: true, fails: true))
    }
  }
  @Test func successThatTheAppHasSeenBeforeTheEnd() async {
    await #expect(processExitsWith: .success) {
      try Self.cutEverywhere(RecoveryScenario(isReplacing: true, isCleared: true))
    }
  }
  @Test func export() async {
    await #expect(processExitsWith: .success) { try Self.cutEverywhere(RecoveryScenario(isExport: true)) }
  }

  /// Cuts the run at every system call and looks at what recovery makes of it; then also cuts the recovery at every call.
  private static func cutEverywhere(_ scenario: RecoveryScenario) throws {
    var (nth, isComplete, seen) = (0, false, Set<[String]>())
    while !isComplete {
      nth += 1
      let place = try scenario.makePlace()
      let progress: RecoveryScenario.Progress
      (progress, isComplete) = scenario.run(place, until: nth)
      let before = try place.listing().map { $0.hasPrefix(".c.migration/status=") ? "status" : $0 }
        .map { $0.hasPrefix(".c.migration/journal=") ? "journal \($0.contains("hasPrevious\" : true"))" : $0 }
      let outcome = try recover(place)
      try check(scenario, place, progress, outcome, "cut at \(nth)")
      let after = try place.listing()
      #expect(try recover(place) == .nothing)
      #expect(try place.listing() == after, "cut at \(nth), second recovery")
      if seen.insert(before).inserted { try cutRecovery(scenario, nth) }
    }
    // Not by chance all the same place.
    #expect(nth > (scenario.isExport ? 15 : 80) && seen.count > (scenario.isExport ? 3 : 20), "\(nth), \(seen.count)")
  }

  private static func cutRecovery(_ scenario: RecoveryScenario, _ nth: Int) throws {
    var (other, isComplete) = (0, false)
    while !isComplete {
      other += 1
      let place = try scenario.makePlace()
      let (progress, _) = scenario.run(place, until: nth)
      FaultInjection.arm("*", nth: other, kind: .error(5), andAllLater: true)
      _ = try? recover(place)
      isComplete = !FaultInjection.wasDelivered
      FaultInjection.disarm()
      _ = try recover(place)
      try check(scenario, place, progress, nil, "cut at \(nth), recovery cut at \(other)")
      #expect(try recover(place) == .nothing)
    }
  }

  private static func recover(_ place: Place) throws -> Recovery.Outcome {
    try Recovery.recover(place.layout, stoppingOrphans: { (_) throws(MigrationError) in })
  }

  /// Compares what is on the disk with what was promised. An outcome is only known of a recovery that was not cut itself.
  private static func check(
    _ scenario: RecoveryScenario, _ place: Place, _ progress: RecoveryScenario.Progress, _ outcome: Recovery.Outcome?,
    _ comment: String
  ) throws {
    #expect(try place.stateListing.isEmpty, "\(comment)")
    let record = try StatusStore.read(place.layout)
    let container = try place.containerListing
    let emptyOnes = ["Documents/", "Library/", "Library/Application Support/"]
    if scenario.isExport {
      #expect(record == nil && container == emptyOnes, "\(comment)")
      if let outcome { #expect(outcome == .nothing || outcome == .interruptedExport, "\(comment)") }
      return
    }
    if let outcome { #expect(outcome != .interruptedExport, "\(comment)") }
    let isUntouched = container == scenario.unchanged || (!scenario.isReplacing && container == emptyOnes)
    if let record {
      #expect(!record.migrationIdentifier.isEmpty && record.isSuccess == (record.error == nil), "\(comment)")
      #expect(record.isSuccess ? container == scenario.imported : isUntouched, "\(comment): \(container)")
      if record.isSuccess {
        #expect(!scenario.fails && progress.isStoring, "\(comment)")
      } else {
        // The extension's own error if it was stored, else the interruption.
        #expect(record.isInterrupted == (record.error?.domain != "own"), "\(comment)")
      }
      if progress.isStored {
        #expect(record.isSuccess == !scenario.fails && !record.isInterrupted, "\(comment)")
      }
      if outcome == .interruptedImport { #expect(record.isInterrupted, "\(comment)") }
    } else if scenario.isCleared && progress.isStored {
      #expect(container == scenario.imported, "\(comment): \(container)")
    } else {
      // Not even the journal was on the disk.
      #expect(isUntouched && !progress.isStoring, "\(comment): \(container)")
      if let outcome { #expect(outcome == .nothing, "\(comment)") }
    }
  }
}
