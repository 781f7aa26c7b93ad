internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  private static let long = OptionSpec(
    "long", short: "l", "Show mode, owner, size, time (UTC) and link target, as ls -l does.")
  private static let null = OptionSpec("null", short: "0", "Write exact names, each ended by NUL.")

  static let list = Command(
    name: "list",
    summary: "show what is in an archive",
    usage: ["ARCHIVE [MEMBER...]"],
    details: [
      "One path a line, in the archive's order; directories end in \"/\". Bytes that are not printable UTF-8 are shown "
        + "as \\ooo (octal), a backslash as \\\\.",
      "With --json there is one object a line. Where a path is not UTF-8 \"path\" is an approximation, and "
        + "\"pathBase64\" has its bytes.",
      "The list relies on the index where there is one; whether the tar stream says the same is what verify compares.",
    ],
    options: [long, null] + OptionSpec.reading,
    examples: [
      "starc list project.tar.zst",
      "starc list -l project.tar.zst project/docs",
      "starc list --json project.tar.zst | jq -r 'select(.size > 1000000) | .path'",
      "starc list -0 project.tar.zst | xargs -0 -n 1 echo",
    ],
    writesWhileRunning: true,
    prepare: { arguments, common throws(Failure) in
      guard let archive = arguments.operands.first else { throw .usage("ARCHIVE is missing") }
      let reading = try ReadingConfiguration(archive: archive, arguments)
      let forms: [(Bool, ListForm)] = [
        (arguments.has(long), .long), (arguments.has(null), .null), (common.writesJSON, .json),
      ]
      let chosen = forms.filter(\.0).map(\.1)
      if chosen.count > 1 { throw .usage("only one of --long, --null and --json is possible") }
      let (form, selection) = (chosen.first ?? .names, Array(arguments.operands.dropFirst()))
      return { session throws(Failure) in try run(reading, selection, form, session) }
    })

  private enum ListForm { case names, long, null, json }

  private static func run(
    _ reading: ReadingConfiguration, _ selection: [[UInt8]], _ form: ListForm, _ session: Session
  ) throws(Failure) -> ExitStatus {
    let reader = try reading.open(session)
    if !reader.isIndexed { try reading.beginProgress("list", of: reader, selection: selection, session) }
    let output = session.output
    var listing = ListingText()
    // What writing threw, while the engine's own error type passes through its loop.
    var failure: Failure?
    do throws(ArchiveError) {
      try reader.list(selection: selection) { listed throws(ArchiveError) in
        do throws(Failure) {
          switch form {
          case .names: try output.write(ListingText.nameLine(listed.member))
          case .long: try output.write(listing.line(listed.member) + "\n")
          case .null: try output.write(ListingText.name(listed.member) + [0])
          case .json: try output.write(ListingText.json(listed))
          }
          if output.isClosed { throw .outputClosed }
        } catch {
          failure = error
          throw ArchiveError(.cancelled, "listing ended")
        }
      }
    } catch {
      throw failure ?? Failure(error, about: reading.name)
    }
    session.reporter.finish()
    return session.status(warnings: reader.warningCount)
  }
}
