internal import CommandLineTool

extension ToolDescription {
  /// This tool.
  static let appmigrate = ToolDescription(
    name: "appmigrate",
    headline: "runs migration extensions: exports an app's data, imports them, tells the result",
    examples: [
      ("appmigrate check --extension ./NotesMigration", "see what would stop a migration"),
      ("appmigrate export --extension ./NotesMigration --output notes.tar.zst", "let the extension export"),
      ("appmigrate import --extension ./NotesMigration notes.tar.zst", "let the extension import"),
      ("appmigrate status --bundle-id org.example.notes", "what the app will be told"),
    ],
    notes: [
      "The bundle identifier of the app comes from EXECUTABLE.entitlements. Its container is $APP_CONTAINERS_ROOT/BUNDLE_ID "
        + "(default: ~/.local/share/app-containers) unless --container names another.",
      "The archive is an ordinary .tar.zst; \"-\" is standard input or output.",
      "Exit status: 0 done; 1 done, but something was left out (status: the last import failed); 2 failed; 64 wrong usage; "
        + "130 or 143 ended by SIGINT or SIGTERM.",
    ],
    version: { Version.text(of: "appmigrate") },
    commands: [.export, .import, .estimate, .status, .clearStatus, .check])
}
