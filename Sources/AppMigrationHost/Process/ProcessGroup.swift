internal import ArchiveIO
internal import CMigrationShims
internal import Foundation

/// The end of a process group.
enum ProcessGroup {
  /// Waits until no process of a group that was sent `SIGKILL` lives any more.
  ///
  /// Those whose status nobody takes count as gone. Gives up after ten seconds: a process that waits for a dead disk or server
  /// does not end before that does.
  static func waitUntilEmpty(_ group: Int32) {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(10)
    var pause: UInt32 = 100
    while amk_group_exists(group) != 0, clock.now < end {
      usleep(pause)
      pause = min(pause * 2, 10_000)
      if pause > 1000, !hasLivingMember(group) { return }
    }
  }

  private static func hasLivingMember(_ group: Int32) -> Bool {
    ProcessFiles.all().contains { process in
      guard let directory = ProcessFiles.directory(of: process), let status = ProcessFiles.status(directory) else {
        return false
      }
      return status.group == group && !status.isOver
    }
  }
}
