internal import AppMigrationHost
internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  static let check = Command(
    name: "check",
    summary: "tell what would stop a migration, and what the kernel can enforce",
    usage: ["--extension EXECUTABLE"],
    details: ["Nothing is started or changed. Exit status 2 when a problem would stop a migration."],
    options: [.extensionExecutable, .container],
    examples: ["appmigrate check --extension ./NotesMigration"],
    prepare: { arguments, common throws(Failure) in
      let shared = try ExtensionArguments(arguments)
      return { session throws(Failure) in
        let check = MigrationCheck(executable: shared.executable, containerPath: shared.containerPath)
        try session.output.write(common.writesJSON ? json(check) : Array(text(check).utf8))
        return check.isOK ? .clean : .failed
      }
    })

  private static func json(_ check: MigrationCheck) -> [UInt8] {
    JSONText.line { text in
      text.field("ok", check.isOK)
      text.field("bundleIdentifier", check.bundleIdentifier)
      text.field("groups", check.groups)
      if let path = check.containerPath {
        text.field("container", lossy: path)
      } else {
        text.field("container", nil as String?)
      }
      text.field("landlockABI", check.sandbox.landlockABI)
      text.field("metadataProtection", check.sandbox.metadataProtection)
      text.field("problems", check.problems + check.sandbox.problems)
    }
  }

  private static func text(_ check: MigrationCheck) -> String {
    var lines: [String] = []
    lines.append("app         \(check.bundleIdentifier ?? "unknown")")
    if !check.groups.isEmpty { lines.append("app groups  \(check.groups.joined(separator: ", "))") }
    if let path = check.containerPath {
      lines.append(
        "container   \(PathText.printable(path))\(check.hasContainer ? "" : " (missing: an export needs it, an import makes it)")"
      )
    }
    let metadata = check.sandbox.metadataProtection ? "metadata protected in exports" : "metadata not protected"
    lines.append("sandbox     Landlock \(check.sandbox.landlockABI), \(metadata)")
    for problem in check.problems { lines.append("problem     \(problem)") }
    for problem in check.sandbox.problems { lines.append("not enforced: \(problem)") }
    lines.append(check.isOK ? "nothing stops a migration" : "a migration would fail")
    return lines.joined(separator: "\n") + "\n"
  }
}
