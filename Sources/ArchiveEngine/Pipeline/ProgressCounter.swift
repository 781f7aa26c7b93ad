internal import ArchiveFormat
internal import ArchiveIO

/// Sums up what lanes have done and reports it. Any thread.
final class ProgressCounter: Sendable {
  private let total = Locked(ArchiveProgress())
  private let report: @Sendable (ArchiveProgress) -> Void

  init(_ report: @escaping @Sendable (ArchiveProgress) -> Void) { self.report = report }

  /// Adds; every mebibyte or 256 members are reported, so that small files cost no call each.
  func add(contentByteCount: UInt64, memberCount: UInt64) {
    let progress: ArchiveProgress? = total.withLock { total in
      let before = (total.contentByteCount >> 20, total.memberCount >> 8)
      total.contentByteCount.add(clamping: contentByteCount)
      total.memberCount += memberCount
      return before != (total.contentByteCount >> 20, total.memberCount >> 8) ? total : nil
    }
    if let progress { report(progress) }
  }

  /// Reports the state at the end.
  func finish() { report(total.withLock { $0 }) }

  /// What was done so far.
  var current: ArchiveProgress { total.withLock { $0 } }
}
