/// How a run ended, as scripts see it.
package enum ExitStatus: Int32, Sendable {
  /// All was done.
  case clean = 0
  /// Finished, but something was skipped, degraded or (compare) different.
  case degraded = 1
  /// Not done.
  case failed = 2
  /// The arguments are wrong; nothing was touched.
  case usage = 64
  /// Ended by SIGINT.
  case interrupted = 130
  /// The reader of an archive on standard output is gone: the status that SIGPIPE would give.
  case brokenPipe = 141
  /// Ended by SIGTERM.
  case terminated = 143
}
