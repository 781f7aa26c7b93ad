internal import ArchiveFormat

extension ExtractPlanner {
  /// Stands for "keep the time that the directory has": no archive can state so many nanoseconds.
  static let leaveTime = Timestamp(seconds: .min, nanoseconds: .max)

  /// Links to links that come after them take a round each; a longer chain of them is no tar's work.
  static let maximumRoundCount = 64

  /// Why a hard link is not made that refers to nothing of this run.
  static func refusal(of target: [UInt8]) -> ArchiveError {
    ArchiveError(
      .rejected, "hard link to \"\(PathText.printable(target))\", which is not a file that this run has made")
  }
}
