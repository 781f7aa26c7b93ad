/// What is measured.
package enum Operation: String, Codable, Sendable, CaseIterable {
  case estimate
  case create
  case extract
  case verify
  case quickVerify = "quick-verify"
  case list
  case cat
  case export
  case `import`

  /// Whether all of the content goes through it, so that it has a rate.
  package var movesContent: Bool {
    switch self {
    case .create, .extract, .verify, .export, .import: true
    case .estimate, .quickVerify, .list, .cat: false
    }
  }

  /// What people read.
  package var title: String { self == .quickVerify ? "quick verify" : rawValue }
}

/// Where and how an operation was run.
package struct Conditions: Codable, Sendable, Hashable {
  /// The kind of place that the files were in.
  package enum Place: String, Codable, Sendable { case memory, disk }

  /// Threads that each program was allowed.
  package var threadCount: Int
  /// Where it wrote.
  package var place: Place
  /// Nothing of what is read was in memory before the run.
  package var isCold: Bool
  /// The run ended when all was on the disk.
  package var syncs: Bool

  /// Makes conditions; by default warm, in memory, without waiting for a disk.
  package init(threadCount: Int, place: Place = .memory, isCold: Bool = false, syncs: Bool = false) {
    self.threadCount = threadCount
    self.place = place
    self.isCold = isCold
    self.syncs = syncs
  }

  /// What people read.
  package var title: String {
    "\(threadCount) \(threadCount == 1 ? "thread" : "threads"), "
      + "\(isCold ? "cold" : "warm") cache, \(place == .memory ? "in memory" : "on disk")" + (syncs ? ", synced" : "")
  }
}
