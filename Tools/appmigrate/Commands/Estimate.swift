internal import AppMigrationHost
internal import CommandLineTool
internal import MigrationWire

extension Command {
  static let estimate = Command(
    name: "estimate",
    summary: "ask an extension how much it would export",
    usage: ["--extension EXECUTABLE"],
    details: ["Nothing is exported. The extension runs in the same sandbox as for an export."],
    options: [.extensionExecutable, .container, .hangTimeout],
    examples: ["appmigrate estimate --extension ./NotesMigration --json"],
    prepare: { arguments, common throws(Failure) in
      let shared = try ExtensionArguments(arguments)
      let timeouts = try ExtensionArguments.timeouts(arguments)
      return { session throws(Failure) in
        let description = try migration { () throws(MigrationError) in
          try MigrationSystem.describe(
            executable: shared.executable, containerPath: shared.containerPath, timeouts: timeouts,
            cancellation: session.cancellation)
        }
        if common.writesJSON {
          try session.output.write(
            JSONText.line { text in
              text.field("sizeEstimate", description.sizeEstimate)
              text.field("version", description.version)
              text.field("compressible", description.isCompressible)
              text.field("exports", description.exports)
              text.field("imports", description.imports)
            })
        } else if !description.exports {
          try session.output.write("the extension does not export\n")
        } else {
          let size = SizeText.decimal(UInt64(max(0, description.sizeEstimate)))
          let kind = description.isCompressible ? "compressible" : "not compressible"
          try session.output.write("\(size), version \(description.version), \(kind)\n")
        }
        return .clean
      }
    })
}
