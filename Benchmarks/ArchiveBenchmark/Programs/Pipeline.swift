/// Programs that run at the same time, each reading what the one before it writes.
struct Pipeline: Sendable {
  /// The programs with their arguments.
  var stages: [[String]]
  /// Where the last one's standard output goes; nil drops it.
  var outputPath: String?

  /// As it would be typed.
  var shellText: String {
    let text = stages.map { $0.map(Self.quote).joined(separator: " ") }.joined(separator: " | ")
    return text + (outputPath.map { " > " + Self.quote($0) } ?? "")
  }

  private static func quote(_ word: String) -> String {
    let isPlain =
      !word.isEmpty && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./=:,+@%".contains($0)) }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
