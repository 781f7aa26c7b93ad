package import ArchiveIO

/// What every command works with.
package struct Session {
  /// Standard output.
  package let output: StandardOutput
  /// Standard error: warnings and progress.
  package let reporter: Reporter
  /// Cancelled by signals.
  package let cancellation: CancellationToken

  /// Clean, unless something was reported as degraded.
  package func status(warnings: UInt64 = 0) -> ExitStatus {
    warnings > 0 || reporter.degradationCount > 0 ? .degraded : .clean
  }
}
