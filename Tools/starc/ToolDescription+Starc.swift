internal import CommandLineTool

extension ToolDescription {
  /// This tool.
  static let starc = ToolDescription(
    name: "starc",
    headline: "archives that any tar extracts, and that are indexed, checked and seekable",
    examples: [
      ("starc create backup.tar.zst project", "make an archive of a directory"),
      ("starc list -l backup.tar.zst", "see what is in it"),
      ("starc extract backup.tar.zst restored", "restore it into a new directory"),
    ],
    notes: [
      "ARCHIVE may be \"-\": standard input or output. Sizes take K, M, G or T (powers of 1024).",
      "Exit status: 0 clean; 1 finished, but something was skipped, degraded or differs; 2 failed; 64 wrong usage; "
        + "130 or 143 ended by SIGINT or SIGTERM.",
    ],
    version: { Version.text(of: "starc") },
    commands: [.create, .extract, .list, .cat, .verify, .info, .estimate, .compare, .salvage])
}
