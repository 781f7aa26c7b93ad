internal import AppMigrationHost
internal import CommandLineTool
internal import MigrationWire

extension Command {
  static let status = Command(
    name: "status",
    summary: "tell the result of an app's last import",
    usage: ["--bundle-id ID"],
    details: ["Exit status 0: none, or a success; 1: a failure. Nothing is changed."],
    options: [.bundleIdentifier, .container],
    examples: ["appmigrate status --bundle-id org.example.notes --json"],
    prepare: { arguments, common throws(Failure) in
      let identifier = try bundleIdentifier(arguments)
      let container = arguments.bytes(.container)
      return { session throws(Failure) in
        let record = try migration { () throws(MigrationError) in
          try MigrationSystem.status(bundleIdentifier: identifier, containerPath: container)
        }
        let name = record.map { $0.isSuccess ? "success" : "failure" } ?? "none"
        if common.writesJSON {
          try session.output.write(
            JSONText.line { text in
              text.field("status", name)
              text.field("domain", record?.error?.domain)
              text.field("code", record?.error?.code)
              text.field("description", record?.error?.description)
              text.field("interrupted", record?.isInterrupted ?? false)
            })
        } else {
          let detail = record?.error.map { ": \($0.description) (\($0.domain) \($0.code))" } ?? ""
          try session.output.write("\(name)\(detail)\n")
        }
        return record.map { $0.isSuccess ? .clean : .degraded } ?? .clean
      }
    })

  static let clearStatus = Command(
    name: "clear-status",
    summary: "forget the result of an app's last import",
    usage: ["--bundle-id ID"],
    details: ["Success and failure alike; what the app itself does after it has shown the result."],
    options: [.bundleIdentifier, .container],
    examples: ["appmigrate clear-status --bundle-id org.example.notes"],
    prepare: { arguments, _ throws(Failure) in
      let identifier = try bundleIdentifier(arguments)
      let container = arguments.bytes(.container)
      return { _ throws(Failure) in
        try migration { () throws(MigrationError) in
          try MigrationSystem.clearStatus(bundleIdentifier: identifier, containerPath: container)
        }
        return .clean
      }
    })

  private static func bundleIdentifier(_ arguments: ParsedArguments) throws(Failure) -> String {
    guard let identifier = arguments.text(.bundleIdentifier) else { throw .usage("--bundle-id is missing") }
    return identifier
  }
}
