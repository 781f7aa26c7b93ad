/// Drives the progress that a test has passed to its own total, whatever the extension counts in. Any thread.
struct DrivenProgress: Sendable {
  private let progress: Progress?

  /// A total of zero or less becomes 100.
  init(_ progress: Progress?) {
    self.progress = progress
    if let progress, progress.totalUnitCount <= 0 { progress.totalUnitCount = 100 }
  }

  /// Shows a part; the whole only comes with ``finish()``.
  func update(_ done: UInt64, of total: UInt64) {
    guard let progress, total > 0 else { return }
    let share = min(Double(done) / Double(total), 1)
    let count = min(Int64(share * Double(progress.totalUnitCount)), progress.totalUnitCount - 1)
    progress.completedUnitCount = max(progress.completedUnitCount, count)
  }

  /// Shows the whole.
  func finish() {
    if let progress { progress.completedUnitCount = progress.totalUnitCount }
  }
}
