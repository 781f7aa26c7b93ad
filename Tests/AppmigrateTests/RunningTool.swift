internal import ArchiveIO
internal import TestSupport

/// What the machine allows.
enum RunningTool {
  /// Whether a process may be started under `strace`.
  static let canTrace = (try? Shell.run(["strace", "-qq", "-o", "/dev/null", "true"]).status) == 0
}
