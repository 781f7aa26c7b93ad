internal import AppMigrationHost
internal import ArchiveEngine
internal import CommandLineTool
internal import MigrationWire

extension Command {
  static let `import` = Command(
    name: "import",
    summary: "unpack an archive and let an extension import it",
    usage: ["--extension EXECUTABLE ARCHIVE"],
    details: [
      "The archive is verified and unpacked beside the container before the extension is started. The extension sees an empty container and moves into it what it "
        + "wants. When it fails the container is empty again, or, with --replace, as it was; the app is told at its next launch.",
      "An archive that comes from no migration can be imported when --source-version and --source-bundle-id say what it is.",
    ],
    options: [
      .extensionExecutable, .container, replace, sourceVersion, sourcePlatform, sourceBundleID, sourceStore,
      maximumSize, maximumRatio, maximumEntries, .hangTimeout, .cancelGrace, .requireSandbox,
    ],
    examples: [
      "appmigrate import --extension ./NotesMigration notes.tar.zst",
      "appmigrate import --extension ./NotesMigration --replace --json notes.tar.zst",
      "appmigrate import -e ./NotesMigration --source-version 1.0 --source-bundle-id com.example.notes old.tar.gz.tar",
    ],
    prepare: { arguments, common throws(Failure) in
      guard let archive = arguments.operands.first else { throw .usage("ARCHIVE is missing") }
      if arguments.operands.count > 1 {
        throw .usage("\"\(PathText.printable(arguments.operands[1]))\" is too much: one archive at a time")
      }
      let shared = try ExtensionArguments(arguments)
      var options = ImportOptions(
        executable: shared.executable, input: archive == [UInt8(ascii: "-")] ? .descriptor(0) : .file(archive))
      options.containerPath = shared.containerPath
      options.replaces = arguments.has(replace)
      options.sourceVersion = arguments.text(sourceVersion)
      options.sourcePlatform = arguments.text(sourcePlatform)
      options.sourceBundleIdentifier = arguments.text(sourceBundleID)
      options.sourceStoreIdentifier = arguments.text(sourceStore)
      if let size = try arguments.size(maximumSize) { options.limits.maximumContentByteCount = size }
      if let ratio = try arguments.number(maximumRatio, in: 1...UInt64.max) { options.limits.maximumRatio = ratio }
      if let count = try arguments.number(maximumEntries, in: 1...UInt64.max) {
        options.limits.maximumEntryCount = count
      }
      options.timeouts = try ExtensionArguments.timeouts(arguments)
      options.requiresSandbox = arguments.has(.requireSandbox)
      let chosen = options
      return { session throws(Failure) in try Import(options: chosen, common: common, session: session).run() }
    })

  private static let replace = OptionSpec("replace", "Replace what is in the container; without it that is refused.")
  private static let sourceVersion = OptionSpec(
    "source-version", value: "V", "Version of the data, in place of what the archive says.")
  private static let sourcePlatform = OptionSpec("source-platform", value: "P", "Platform of the source app.")
  private static let sourceBundleID = OptionSpec(
    "source-bundle-id", value: "ID", "Bundle identifier or package name of the source app.")
  private static let sourceStore = OptionSpec("source-store", value: "ID", "Store of the source app.")
  private static let maximumSize = OptionSpec(
    "max-size", value: "SIZE", "Refuse more content. Default: 1T, and never more than is free.")
  private static let maximumRatio = OptionSpec(
    "max-ratio", value: "N", "Refuse more than N bytes for each of the archive's. Default: 1000.")
  private static let maximumEntries = OptionSpec(
    "max-entries", value: "N", "Refuse more members. Default: 10000000.")
}

private struct Import {
  let options: ImportOptions
  let common: CommonConfiguration
  let session: Session

  func run() throws(Failure) -> ExitStatus {
    let reporter = session.reporter
    let start = ContinuousClock.now
    reporter.begin("unpack", totalByteCount: nil)
    let summary: ImportSummary
    do throws(MigrationError) {
      summary = try MigrationSystem.importArchive(options, cancellation: session.cancellation) { event in
        switch event {
        case .described:
          reporter.finish()
          reporter.begin("import", totalByteCount: nil, unit: .steps)
        case .bytes(let done, _): reporter.update(ArchiveProgress(contentByteCount: done))
        case .importing(let completed, let total):
          reporter.update(completed: UInt64(max(0, completed)), of: UInt64(max(0, total)))
        case .warning(let text): reporter.warn(ArchiveWarning(path: [], message: text))
        }
      }
    } catch {
      // Scripts get the same object whatever happens; people get the line on standard error.
      if common.writesJSON { try session.output.write(json(error, ContinuousClock.now - start)) }
      throw Failure(error)
    }
    reporter.finish()
    if common.writesJSON {
      try session.output.write(json(summary))
    } else if !common.isQuiet {
      try session.output.write(text(summary))
    }
    return session.status()
  }

  private func text(_ summary: ImportSummary) -> String {
    """
    imported \(SizeText.grouped(summary.itemCount)) items, \(SizeText.decimal(summary.byteCount)), version \
    \(summary.sourceVersion) of \(summary.source.bundleIdentifier) (\(summary.source.platform)), \
    \(TimeText.seconds(summary.duration))

    """
  }

  private func json(_ summary: ImportSummary) -> [UInt8] {
    JSONText.line { text in
      text.field("status", "success")
      text.field("items", summary.itemCount)
      text.field("bytes", summary.byteCount)
      text.field("sourceVersion", summary.sourceVersion)
      text.field("sourceBundleIdentifier", summary.source.bundleIdentifier)
      text.field("sourcePlatform", summary.source.platform)
      text.field("seconds", seconds: summary.duration)
      text.field("sandbox", summary.sandbox)
      text.field("error", nil as String?)
    }
  }

  private func json(_ error: MigrationError, _ duration: Duration) -> [UInt8] {
    JSONText.line { text in
      text.field("status", "failure")
      text.field("items", 0)
      text.field("bytes", 0)
      text.field("sourceVersion", nil as String?)
      text.field("sourceBundleIdentifier", nil as String?)
      text.field("sourcePlatform", nil as String?)
      text.field("seconds", seconds: duration)
      text.field("sandbox", SandboxReport.current())
      text.name("error")
      text.object { text in
        text.field("code", error.code.description)
        text.field("message", error.message)
        text.field("domain", error.extensionError?.domain)
        text.field("extensionCode", error.extensionError?.code)
      }
    }
  }
}
