/// All that was measured with one corpus.
package struct CorpusResult: Codable, Sendable {
  /// Its name in tables.
  package var name: String
  /// What it is: a directory's path, or how it was generated.
  package var origin: String
  /// Members of all kinds below its root.
  package var entryCount: UInt64
  /// Files, each inode once.
  package var fileCount: UInt64
  /// Sum of their logical sizes.
  package var contentByteCount: UInt64
  /// What the estimator said, beside what came out.
  package var estimate: EstimateResult?
  /// What each program made of it.
  package var archives: [ArchiveResult] = []
  /// Times and other costs.
  package var operations: [OperationResult] = []
  /// How near ours comes to what the machine could do.
  package var limits: [LimitResult] = []
  /// Where ours spends its time.
  package var profiles: [ProfileResult] = []
  /// How ours grows with threads.
  package var scaling: [ScalingResult] = []
  /// What waiting for the disk costs.
  package var syncCosts: [SyncCost] = []
  /// Whether what the programs made was right.
  package var checks: [CheckResult] = []

  /// Begins a result.
  package init(name: String, origin: String, entryCount: UInt64, fileCount: UInt64, contentByteCount: UInt64) {
    self.name = name
    self.origin = origin
    self.entryCount = entryCount
    self.fileCount = fileCount
    self.contentByteCount = contentByteCount
  }
}

/// An archive's size.
package struct ArchiveResult: Codable, Sendable {
  /// Who made it.
  package var program: String
  /// All of it.
  package var archiveByteCount: UInt64
  /// Frames with content; of others' archives everything.
  package var frameByteCount: UInt64
  /// Index and seek table; 0 for archives that have none.
  package var indexByteCount: UInt64
  /// Content bytes over archive bytes.
  package var ratio: Double?

  /// Makes a size.
  package init(program: String, archiveByteCount: UInt64, indexByteCount: UInt64, contentByteCount: UInt64) {
    self.program = program
    self.archiveByteCount = archiveByteCount
    self.indexByteCount = indexByteCount
    frameByteCount = archiveByteCount - min(indexByteCount, archiveByteCount)
    ratio = archiveByteCount > 0 ? Double(contentByteCount) / Double(archiveByteCount) : nil
  }
}

/// Whether what a program made was right.
package struct CheckResult: Codable, Sendable, Equatable {
  /// How right it was.
  package enum Verdict: String, Codable, Sendable {
    /// Names, types, contents, modes, times, owners, links and attributes.
    case identical
    /// Names, types, contents and link targets are right, something else is not.
    case contentsIdentical = "contents identical"
    /// It is something else than the corpus.
    case wrong
  }

  /// Who made it.
  package var program: String
  /// Making what.
  package var operation: Operation
  /// How right it was.
  package var verdict: Verdict
  /// The first difference; empty without any.
  package var detail: String

  /// Makes a result.
  package init(program: String, operation: Operation, verdict: Verdict, detail: String = "") {
    self.program = program
    self.operation = operation
    self.verdict = verdict
    self.detail = detail
  }
}
