internal import ArchiveIO

/// What every command works with.
struct Session {
  /// Standard output.
  let output: StandardOutput
  /// Standard error: warnings and progress.
  let reporter: Reporter
  /// Cancelled by signals.
  let cancellation: CancellationToken

  /// Clean, unless something was reported as degraded.
  func status(warnings: UInt64 = 0) -> ExitStatus {
    warnings > 0 || reporter.degradationCount > 0 ? .degraded : .clean
  }
}
