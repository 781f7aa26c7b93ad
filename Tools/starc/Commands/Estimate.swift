internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

extension Command {
  static let estimate = Command(
    name: "estimate",
    summary: "predict how large an archive will be, and how long making it takes",
    usage: ["PATH...", "--files-from FILE"],
    details: [
      "Goes through everything as create does, and compresses a sample of it. That takes about a tenth of the time of "
        + "create, and at least 30 ms. The sizes of the contents are exact; the archive will be between the two bounds, most likely "
        + "within 5 % of the prediction.",
      "Give the options that create will be given: they change what is stored and how well it compresses.",
      "What create would leave out is named, and the exit status is 1; files that cannot be read may be found only by create.",
    ],
    options: SourceConfiguration.options,
    examples: [
      "starc estimate project",
      "starc estimate --level 9 --exclude '*.o' -C /home/ada src",
      "starc estimate --json project",
      "find . -newer stamp -print0 | starc estimate --null --files-from -",
    ],
    prepare: { arguments, common throws(Failure) in
      let configuration = try SourceConfiguration(arguments.operands[...], arguments)
      return { session throws(Failure) in try Command.predict(configuration, common, session) }
    })

  private static func predict(
    _ configuration: SourceConfiguration, _ common: CommonConfiguration, _ session: Session
  ) throws(Failure) -> ExitStatus {
    let directory = try configuration.openDirectory()
    let sources = try configuration.sources(in: directory.rawValue, session)
    let reporter = session.reporter
    let estimate = try engine(about: configuration.directory) { () throws(ArchiveError) in
      try configuration.estimate(sources, in: directory.rawValue, session, warn: { reporter.warn($0) })
    }
    if common.writesJSON {
      try session.output.write(json(estimate))
    } else if !common.isQuiet {
      try session.output.write(Array(text(estimate).utf8))
    }
    return session.status(warnings: estimate.warningCount)
  }

  private static func text(_ estimate: SizeEstimate) -> String {
    let entries = SizeText.grouped(estimate.entryCount)
    var content = SizeText.decimal(estimate.contentByteCount)
    if estimate.storedByteCount < estimate.contentByteCount {
      content += " (\(SizeText.decimal(estimate.storedByteCount)) without holes)"
    }
    let bounds =
      "\(SizeText.decimal(estimate.archiveByteCountLow)) to \(SizeText.decimal(estimate.archiveByteCountHigh))"
    return """
      \(entries) entries, \(content): about \(SizeText.decimal(estimate.archiveByteCount)) \
      (\(bounds)), \(TimeText.seconds(.seconds(estimate.seconds)))

      """
  }

  private static func json(_ estimate: SizeEstimate) -> [UInt8] {
    JSONText.line { text in
      text.field("entries", estimate.entryCount)
      text.field("files", estimate.fileCount)
      text.field("contentBytes", estimate.contentByteCount)
      text.field("storedBytes", estimate.storedByteCount)
      text.field("tarBytes", estimate.tarByteCount)
      text.field("archiveBytes", estimate.archiveByteCount)
      text.field("archiveBytesLow", estimate.archiveByteCountLow)
      text.field("archiveBytesHigh", estimate.archiveByteCountHigh)
      text.field("seconds", seconds: .seconds(estimate.seconds))
      text.field("sampledBytes", estimate.sampledByteCount)
      text.field("warnings", estimate.warningCount)
    }
  }
}
