internal import AppMigrationHost
internal import ArchiveEngine
internal import CommandLineTool
internal import MigrationWire

extension Command {
  static let export = Command(
    name: "export",
    summary: "let an extension export its app's data into an archive",
    usage: ["--extension EXECUTABLE --output ARCHIVE"],
    details: [
      "The extension runs in a sandbox: it can read the app's container and the app groups of its entitlements, and nothing else of "
        + "the user's. The app cannot be migrated twice at once, and cannot start meanwhile if it takes its launch lock.",
      "The archive appears under its name when it is complete. With \"-\" it goes to standard output, and --json to standard error.",
    ],
    options: [
      .extensionExecutable, output, .container, platform, option, storeID, .hangTimeout, .cancelGrace, .requireSandbox,
    ],
    examples: [
      "appmigrate export --extension ./NotesMigration --output notes.tar.zst",
      "appmigrate export -e ./NotesMigration --output - | ssh host appmigrate import -e ./NotesMigration -",
    ],
    needsWholeOutput: true,
    prepare: { arguments, common throws(Failure) in
      if let extra = arguments.operands.first {
        throw .usage("\"\(PathText.printable(extra))\" is too much; the archive is named with --output")
      }
      let shared = try ExtensionArguments(arguments)
      guard let archive = arguments.bytes(output) else { throw .usage("--output is missing") }
      let isStandardOutput = archive == [UInt8(ascii: "-")]
      var options = ExportOptions(
        executable: shared.executable, output: isStandardOutput ? .descriptor(1) : .file(archive))
      options.containerPath = shared.containerPath
      options.platform = arguments.text(platform) ?? "android"
      options.options = try arguments.values(option).map { pair throws(Failure) in
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), equals > 0,
          let key = String(validating: pair[..<equals], as: UTF8.self)
        else { throw .usage("--option: \"\(PathText.printable(pair))\" is not KEY=VALUE") }
        return MigrationTask.Option(key: key, value: Array(pair[(equals + 1)...]))
      }
      options.storeIdentifier = arguments.text(storeID) ?? ""
      options.timeouts = try ExtensionArguments.timeouts(arguments)
      options.requiresSandbox = arguments.has(.requireSandbox)
      let export = options
      return { session throws(Failure) in
        try Export(options: export, isStandardOutput: isStandardOutput, common: common, session: session).run()
      }
    })

  private static let output = OptionSpec("output", short: "o", value: "ARCHIVE", "Where the archive goes.")
  private static let platform = OptionSpec(
    "platform", value: "NAME", "Platform that the data go to. Default: android.")
  private static let option = OptionSpec(
    "option", value: "KEY=VALUE", "A value for an option that the destination defines; may be given often.")
  private static let storeID = OptionSpec("store-id", value: "ID", "Store that the app came from.")
}

private struct Export {
  let options: ExportOptions
  let isStandardOutput: Bool
  let common: CommonConfiguration
  let session: Session

  func run() throws(Failure) -> ExitStatus {
    if isStandardOutput { try session.output.requireArchiveDestination() }
    let reporter = session.reporter
    let summary = try migration { () throws(MigrationError) in
      try MigrationSystem.export(options, cancellation: session.cancellation) { event in
        switch event {
        case .described(let description):
          reporter.begin(
            "export", totalByteCount: description.sizeEstimate > 0 ? UInt64(description.sizeEstimate) : nil)
        case .bytes(let done, _): reporter.update(ArchiveProgress(contentByteCount: done))
        case .importing: break
        case .warning(let text): reporter.warn(ArchiveWarning(path: [], message: text))
        }
      }
    }
    reporter.finish()
    if common.writesJSON {
      try show(json(summary))
    } else if !common.isQuiet, !isStandardOutput {
      try show(Array(text(summary).utf8))
    }
    return session.status()
  }

  private func show(_ bytes: [UInt8]) throws(Failure) {
    if isStandardOutput { session.reporter.show(bytes) } else { try session.output.write(bytes) }
  }

  private func text(_ summary: ExportSummary) -> String {
    let content = SizeText.decimal(summary.uncompressedByteCount)
    let stored = summary.compressedByteCount.map { " in \(SizeText.decimal($0))" } ?? ", not compressed"
    let estimate = SizeText.decimal(UInt64(max(0, summary.description.sizeEstimate)))
    return """
      exported \(SizeText.grouped(summary.itemCount)) items, \(content)\(stored), version \(summary.description.version), \
      estimate \(estimate), \(TimeText.seconds(summary.duration)), digest \(summary.digest)

      """
  }

  private func json(_ summary: ExportSummary) -> [UInt8] {
    JSONText.line { text in
      text.field("uncompressedBytes", summary.uncompressedByteCount)
      text.field("compressedBytes", summary.compressedByteCount)
      text.field("sizeEstimate", summary.description.sizeEstimate)
      text.field("version", summary.description.version)
      text.field("items", summary.itemCount)
      text.field("seconds", seconds: summary.duration)
      text.field("preflightSeconds", seconds: summary.preflightDuration)
      text.field("digest", summary.digest)
      text.field("sandbox", summary.sandbox)
    }
  }
}
