internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  private static let quick = OptionSpec(
    "quick", "Check only the hashes of the stored bytes, without decompressing (indexed archives).")

  static let verify = Command(
    name: "verify",
    summary: "check that an archive is undamaged",
    usage: ["ARCHIVE"],
    details: [
      "Everything is decompressed, every hash is checked, and the tar stream is compared with the index. Damage is "
        + "named on standard error: the chunk, where it lies in the file, and the members that it touches. The exit "
        + "status is 2 for a damaged archive, and 1 for one that is odd but complete.",
      "--quick relies on the index for what members there are and what they are like: it finds damage, but not an index "
        + "that says something else than the tar stream.",
    ],
    options: [quick] + OptionSpec.reading,
    examples: [
      "starc verify backup.tar.zst",
      "starc verify --quick --json backup.tar.zst",
    ],
    prepare: { arguments, common throws(Failure) in
      guard arguments.operands.count == 1 else { throw .usage("one ARCHIVE is needed") }
      let reading = try ReadingConfiguration(archive: arguments.operands[0], arguments)
      let isQuick = arguments.has(quick)
      return { session throws(Failure) in try run(reading, isQuick, common, session) }
    })

  private static func run(
    _ reading: ReadingConfiguration, _ isQuick: Bool, _ common: CommonConfiguration, _ session: Session
  ) throws(Failure) -> ExitStatus {
    let (report, warningCount): (VerifyReport, UInt64)
    do throws(Failure) {
      let reader = try reading.open(session)
      try reading.beginProgress("verify", of: reader, session)
      report = try engine(about: reading.name) { () throws(ArchiveError) in try reader.verify(quick: isQuick) }
      warningCount = max(report.warningCount, reader.warningCount)
    } catch {
      // A script that asked for JSON gets an answer also when the archive cannot be read at all.
      if common.writesJSON, case .archive = error {
        try session.output.write(json(nil, error: error.message, warnings: 0))
      }
      throw error
    }
    if report.isHealthy { session.reporter.finish() } else { session.reporter.abandon() }
    let name = PathText.printable(reading.name)
    for damage in report.damages { session.reporter.error("\(name): \(describe(damage))", code: "damaged") }
    if common.writesJSON {
      try session.output.write(json(report, error: nil, warnings: warningCount))
    } else if !common.isQuiet {
      try session.output.write(text(report, name) + "\n")
    }
    return report.isHealthy ? session.status(warnings: warningCount) : .failed
  }

  private static func text(_ report: VerifyReport, _ name: String) -> String {
    guard report.isHealthy else {
      let (bad, all) = (SizeText.grouped(report.damagedChunkCount), SizeText.grouped(report.chunkCount))
      return "\(name): damaged, \(bad) of \(all) chunks"
    }
    var text = "\(name): ok, \(SizeText.grouped(report.entryCount)) entries, "
    text += "\(SizeText.decimal(report.contentByteCount)), \(SizeText.grouped(report.chunkCount)) chunks"
    if let digest = report.digest { text += ", digest \(digest)" }
    return text
  }

  /// The damage in one line; of many members the first ones.
  private static func describe(_ damage: ArchiveDamage) -> String {
    guard !damage.members.isEmpty else { return damage.description }
    let shown = 20
    var text =
      damage.description + "; touches "
      + damage.members.prefix(shown).map { PathText.printable($0) }.joined(separator: ", ")
    let more = UInt64(damage.members.count - min(shown, damage.members.count)) + damage.unlistedMemberCount
    if more > 0 { text += " and \(more) more" }
    return text
  }

  /// Without a report the archive could not be read at all.
  private static func json(_ report: VerifyReport?, error: String?, warnings: UInt64) -> [UInt8] {
    JSONText.line { text in
      text.field("ok", report?.isHealthy ?? false)
      text.field("chunks", report?.chunkCount ?? 0)
      text.field("damagedChunks", report?.damagedChunkCount ?? 0)
      text.field("entries", report?.entryCount ?? 0)
      text.field("bytes", report?.contentByteCount ?? 0)
      text.field("digest", report?.digest)
      text.field("warnings", warnings)
      text.name("damages")
      text.array { text in
        for damage in report?.damages ?? [] { text.object { Self.add(damage, to: &$0) } }
      }
      if let error { text.field("error", error) }
    }
  }

  private static func add(_ damage: ArchiveDamage, to text: inout JSONText) {
    text.field("chunk", damage.chunk)
    text.field("offset", damage.offset)
    text.field("message", damage.message)
    text.name("members")
    text.array { text in
      for member in damage.members { text.object { $0.field("path", lossy: member) } }
    }
    if damage.unlistedMemberCount > 0 { text.field("unlistedMembers", damage.unlistedMemberCount) }
  }
}
