internal import AppMigrationKit
internal import ArchiveIO
internal import MigrationWire
import Testing
internal import UsagePatterns

/// The status is one for the process: these tests run one after another, and no other test touches it.
@Suite("The status of an import", .serialized)
struct StatusTests {
  @Test("There is none at first; the store gives one; an override has precedence; clearing goes to what counts")
  @MainActor func sources() {
    defer {
      StatusSource.setOverride(nil)
      StatusSource.setStore(.system)
    }
    #expect(MigrationStatus.importStatus == nil)
    #expect(StatusScreen().text == nil)

    let stored = Locked(true)
    StatusSource.setStore(
      .init(read: { stored.withLock { $0 } ? .success : nil }, clear: { stored.withLock { $0 = false } }))
    guard case .success? = MigrationStatus.importStatus else {
      Issue.record("no success")
      return
    }
    #expect(StatusScreen().text == "Your data are here.")

    let failed = Locked(true)
    StatusSource.setOverride(
      .init(
        read: {
          failed.withLock { $0 }
            ? .failure(NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: "no"])) : nil
        },
        clear: { failed.withLock { $0 = false } }))
    #expect(StatusScreen().text == "Your data could not be imported: no")
    MigrationStatus.clearImportStatus()
    #expect(MigrationStatus.importStatus == nil)
    #expect(stored.withLock { $0 })

    StatusSource.setOverride(nil)
    StatusScreen().dismiss()
    #expect(MigrationStatus.importStatus == nil && !stored.withLock { $0 })
  }

  @Test("An error goes through a record and comes back with domain, code, description and strings")
  func convertsErrors() {
    let error = NSError(
      domain: "d", code: -3,
      userInfo: [NSLocalizedDescriptionKey: "why", "a": "b", "n": 5, NSUnderlyingErrorKey: CocoaError(.fileNoSuchFile)])
    let back = ErrorRecord(converting: error).nsError
    #expect(back.domain == "d" && back.code == -3 && back.localizedDescription == "why")
    #expect(back.userInfo as? [String: String] == ["a": "b", NSLocalizedDescriptionKey: "why"])

    let own = ErrorRecord(converting: ImportFailure.unsupportedVersion("9"))
    #expect(own.domain == "UsagePatterns.ImportFailure" && !own.description.isEmpty)
    let archiver = ErrorRecord(converting: ResourcesArchiverError("is a FIFO", path: "/x"))
    #expect(archiver.description == "/x: is a FIFO" && archiver.userInfo[NSFilePathErrorKey] == "/x")
    #expect(ErrorRecord(converting: own) == own)
  }

  @Test("Errors of which no record can be made become the generic one")
  func convertsToGeneric() {
    let long = String(repeating: "x", count: 200_000)
    let many = Dictionary(uniqueKeysWithValues: (0..<2000).map { ("\($0)", "v" as Any) })
    for error in [
      NSError(domain: "", code: 1), NSError(domain: "d", code: 1, userInfo: ["a": long]),
      NSError(domain: "d", code: 1, userInfo: many),
    ] {
      #expect(ErrorRecord(converting: error) == .generic)
    }
    let generic = ErrorRecord.generic.nsError
    #expect(
      generic.domain == "AppMigrationKit.ImportError" && generic.code == 1 && !generic.localizedDescription.isEmpty)
  }
}
