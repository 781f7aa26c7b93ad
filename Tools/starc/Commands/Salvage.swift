internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  static let salvage = Command(
    name: "salvage",
    summary: "restore what is left of a damaged archive",
    usage: ["ARCHIVE DIR"],
    details: [
      "Every member that lies in healthy chunks is restored, whatever has become of the rest: the beginning or the end of the file may be "
        + "missing, the index, or parts in between. What is lost is listed, one line each, and the exit status is 1; damage of which no member "
        + "is known is listed too.",
      "Every chunk is checked against its hash, and index and tar headers against each other, as far as there is an index; a member of which these say different things "
        + "is not restored but listed with both values, and the exit status is 2. Of a plain tar and of other programs' "
        + "archives everything up to the first damage is restored. From a pipe everything is first copied to $TMPDIR.",
    ],
    options: ExtractConfiguration.options.filter {
      ![ExtractConfiguration.lenient.name, ExtractConfiguration.stripComponents.name].contains($0.name)
    },
    examples: ["starc salvage damaged.tar.zst rescued", "starc salvage --json damaged.tar.zst rescued > losses"],
    prepare: { arguments, common throws(Failure) in
      let configuration = try ExtractConfiguration(arguments, common)
      if let extra = configuration.options.selection.first {
        throw .usage("\"\(PathText.printable(extra))\" is too much: everything that can be is restored")
      }
      return { session throws(Failure) in try run(configuration, session) }
    })

  private static func run(_ configuration: ExtractConfiguration, _ session: Session) throws(Failure) -> ExitStatus {
    let start = ContinuousClock.now
    let reader = try configuration.reading.open(session)
    var losses: [[UInt8]] = []
    var failure: Failure?
    let summary = try engine(about: configuration.reading.name) { () throws(ArchiveError) in
      try reader.salvage(to: configuration.directory, options: configuration.options) { path, reason in
        losses.append(line(path, reason, asJSON: configuration.writesJSON))
        // Lists of losses may be long: they go out as they come.
        do throws(Failure) { for loss in losses { try session.output.write(loss) } } catch {
          failure = failure ?? error
        }
        losses = []
      }
    }
    if let failure { throw failure }
    let restored = summary.restored
    if configuration.writesJSON {
      try session.output.write(
        JSONText.line { text in
          text.field("ok", summary.lossCount == 0 && restored.warningCount == 0)
          text.field("entries", restored.entryCount)
          text.field("files", restored.fileCount)
          text.field("contentBytes", restored.contentByteCount)
          text.field("lost", summary.lossCount)
          text.field("mismatches", summary.mismatchCount)
          text.field("seconds", seconds: ContinuousClock.now - start)
        })
    } else if !configuration.isQuiet {
      let entries = SizeText.grouped(restored.entryCount)
      let lost = summary.lossCount == 0 ? "nothing is lost" : "\(SizeText.grouped(summary.lossCount)) losses"
      try session.output.write(
        "\(PathText.printable(configuration.directory)): \(entries) entries, \(SizeText.decimal(restored.contentByteCount)), \(lost)\n"
      )
    }
    if let mismatch = summary.firstMismatch { throw .archive(mismatch, about: configuration.reading.name) }
    return summary.lossCount > 0 ? .degraded : session.status(warnings: restored.warningCount)
  }

  private static func line(_ path: [UInt8], _ reason: String, asJSON: Bool) -> [UInt8] {
    if asJSON {
      return JSONText.line { text in
        text.field("event", "lost")
        if path.isEmpty { text.field("path", nil as String?) } else { text.field("path", lossy: path) }
        text.field("reason", reason)
      }
    }
    return Array("lost: \(path.isEmpty ? "" : PathText.printable(path) + ": ")\(reason)\n".utf8)
  }
}
