internal import ArchiveFormat

extension ExtractPlanner {
  /// Stands for "keep the time that the directory has": no archive can state so many nanoseconds.
  static let leaveTime = Timestamp(seconds: .min, nanoseconds: .max)

  /// Links to links that come after them take a round each; a longer chain of them is no tar's work.
  static let maximumRoundCount = 64

  /// How often an archive is read again for contents that links miss. A link to a link takes one more.
  static let maximumPassCount = 8

  /// Why a hard link is not made that refers to nothing of this run.
  static func refusal(of target: [UInt8]) -> ArchiveError {
    ArchiveError(.rejected, "\(phrase(target)), which is not a file that this run has made")
  }

  /// A hard link in words.
  static func phrase(_ target: [UInt8]) -> String { "hard link to \"\(PathText.printable(target))\"" }

  /// Why a member is not made whose name is taken.
  static let alreadyThere = ArchiveError(
    .exists, "is there already; --overwrite keep or replace says what shall happen")

  /// Why a directory is not made where something else stays.
  static func noDirectory(_ path: [UInt8]) -> ArchiveError {
    ArchiveError(
      .exists, "something that is not a directory has its place; --overwrite replace removes it", path: path)
  }
}
