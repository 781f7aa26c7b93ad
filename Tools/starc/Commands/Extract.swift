internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  static let extract = Command(
    name: "extract",
    summary: "restore files from an archive",
    usage: ["ARCHIVE DIR [MEMBER...]"],
    details: [
      "MEMBER is a path in the archive or a directory; without one everything is restored. From an indexed archive "
        + "only what holds the members is read.",
      "A DIR that does not exist appears only when all is done. In an existing DIR, files get their names one by one "
        + "when they are complete. Nothing is ever written outside of DIR or through symlinks.",
      "What a killed run has left, in an existing DIR or beside a new one, is removed by the next run that extracts to DIR. "
        + "--overwrite keep takes a killed run up where it ended.",
      "Members that are unsafe or malformed end the run; with --lenient they are named and left out, and the exit "
        + "status is 1.",
    ],
    options: ExtractConfiguration.options,
    examples: [
      "starc extract project.tar.zst restored",
      "starc extract project.tar.zst . project/README.md project/docs --overwrite replace",
      "curl https://example.org/source.tar.zst | starc extract - source --strip-components 1",
      "starc extract --max-size 2G --max-ratio 200 --max-entries 100000 upload.tar.zst inbox",
    ],
    prepare: { arguments, common throws(Failure) in
      let configuration = try ExtractConfiguration(arguments, common)
      return { session throws(Failure) in try run(configuration, session) }
    })

  private static func run(_ configuration: ExtractConfiguration, _ session: Session) throws(Failure) -> ExitStatus {
    let start = ContinuousClock.now
    let (reading, options) = (configuration.reading, configuration.options)
    let reader = try reading.open(session)
    try reading.beginProgress("extract", of: reader, selection: options.selection, session)
    let summary = try engine(about: reading.name) { () throws(ArchiveError) in
      try reader.extract(to: configuration.directory, options: options)
    }
    session.reporter.finish()
    let elapsed = ContinuousClock.now - start
    if configuration.writesJSON {
      try session.output.write(
        JSONText.line { text in
          text.field("entries", summary.entryCount)
          text.field("files", summary.fileCount)
          text.field("contentBytes", summary.contentByteCount)
          text.field("skipped", summary.skippedCount)
          text.field("warnings", max(summary.warningCount, session.reporter.degradationCount))
          text.field("seconds", seconds: elapsed)
        })
    } else if !configuration.isQuiet {
      let entries = SizeText.grouped(summary.entryCount)
      var line = "\(PathText.printable(configuration.directory)): \(entries) entries, "
      line += "\(SizeText.decimal(summary.contentByteCount)), \(TimeText.seconds(elapsed))"
      if summary.skippedCount > 0 { line += ", \(SizeText.grouped(summary.skippedCount)) left out" }
      try session.output.write(line + "\n")
    }
    return session.status(warnings: summary.warningCount + reader.warningCount)
  }
}
