import AppMigrationHost
import ArchiveIO
import MigrationWire
import TestSupport

/// A run of an import or export as its system makes it, that can be cut off anywhere.
struct RecoveryScenario: Sendable {
  var isReplacing = false
  var fails = false
  var isExport = false
  /// The app clears the result before anything is cleaned up.
  var isCleared = false

  /// Which promises a run that was cut off has made.
  struct Progress {
    var hasBegun = false
    var isStoring = false
    var isStored = false
  }

  /// Faults are compiled into debug builds only.
  static var hasFaults: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  func makePlace() throws -> Place {
    let place = try Place()
    try place.layout.prepare()
    if isReplacing {
      try put("old", at: place.directory.root.rawValue, "c/Documents/old")
      try makeDirectory(at: place.directory.root.rawValue, "c/Library/More")
      try put("old", at: place.directory.root.rawValue, "c/Library/More/old")
    }
    return place
  }

  /// What the container holds when an import has failed.
  var unchanged: [String] {
    isReplacing
      ? [
        "Documents/", "Documents/old=old", "Library/", "Library/Application Support/", "Library/More/",
        "Library/More/old=old",
      ]
      : []
  }
  /// What the container holds when it has succeeded.
  var imported: [String] { ["deep/", "deep/file=new", "file=new"] }

  func run(_ place: Place, _ progress: inout Progress) throws {
    let (layout, root) = (place.layout, place.directory.root.rawValue)
    if isExport {
      progress.hasBegun = true
      try MigrationJournal(kind: .export, phase: .running).write(to: layout)
      return try MigrationJournal.remove(layout)
    }
    progress.hasBegun = true
    var transaction = try ImportTransaction(layout, replacing: isReplacing)
    let staging = try transaction.makeStaging()
    try put("new", at: staging.rawValue, "file")
    try makeDirectory(at: staging.rawValue, "deep")
    try put("new", at: staging.rawValue, "deep/file")
    try put("left", at: staging.rawValue, "left")
    try transaction.didUnpack()
    try transaction.willRun()(1, 2)
    // What an extension does.
    let container = try FileSystem.open(at: root, [0x63], [.readOnly, .directory])
    for name in ["file", "deep"] {
      try FileSystem.rename(
        from: staging.rawValue, Array(name.utf8), to: container.rawValue, Array(name.utf8))
    }
    for name in ["Documents", "Library/Application Support", "Library"] where !isReplacing {
      try FileSystem.removeDirectory(at: container.rawValue, Array(name.utf8))
    }
    progress.isStoring = true
    if fails {
      try transaction.fail(ErrorRecord(domain: "own", code: 5, description: "no"))
    } else {
      try transaction.succeed()
    }
    progress.isStored = true
    if isCleared { try StatusStore.clear(layout) }
    try transaction.finish()
  }

  /// Runs until the n-th system call; that one and all later fail, so the disk is as if the process had been killed there.
  ///
  /// - Returns: the progress, and whether the run came to its end.
  func run(_ place: Place, until nth: Int) -> (Progress, isComplete: Bool) {
    var progress = Progress()
    FaultInjection.arm("*", nth: nth, kind: .error(5), andAllLater: true)
    try? run(place, &progress)
    let isComplete = !FaultInjection.wasDelivered
    FaultInjection.disarm()
    return (progress, isComplete)
  }
}

extension Place {
  var containerListing: [String] {
    get throws {
      try Self.listing(SharedDescriptor(try FileSystem.open(at: directory.root.rawValue, [0x63], .readOnly)))
    }
  }

  /// What is left beside the container, less the result.
  var stateListing: [String] {
    get throws {
      try listing().filter { $0.hasPrefix(".c.migration/") && $0 != ".c.migration/" }
        .filter { !$0.hasPrefix(".c.migration/status=") }
    }
  }
}
