internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  static let compare = Command(
    name: "compare",
    summary: "compare an archive with a directory",
    usage: ["ARCHIVE DIR"],
    details: [
      "Compares names, types, contents, modes, times, links and extended attributes. One line tells each difference; "
        + "the exit status is 0 when there is none, else 1. With --json each is an object."
    ],
    options: OptionSpec.reading,
    examples: ["starc compare backup.tar.zst restored", "starc compare --json backup.tar.zst restored | jq -r .path"],
    writesWhileRunning: true,
    prepare: { arguments, common throws(Failure) in
      guard arguments.operands.count == 2 else { throw .usage("ARCHIVE and DIR are needed") }
      let reading = try ReadingConfiguration(archive: arguments.operands[0], arguments)
      let directory = arguments.operands[1]
      if directory.isEmpty { throw .usage("DIR is empty") }
      return { session throws(Failure) in try run(reading, directory, common, session) }
    })

  private static func run(
    _ reading: ReadingConfiguration, _ directory: [UInt8], _ common: CommonConfiguration, _ session: Session
  ) throws(Failure) -> ExitStatus {
    let reader = try reading.open(session)
    try reading.beginProgress("compare", of: reader, session)
    let output = session.output
    var failure: Failure?
    let count: UInt64
    do throws(ArchiveError) {
      count = try reader.compare(with: directory) { difference throws(ArchiveError) in
        do throws(Failure) {
          if common.writesJSON {
            try output.write(
              JSONText.line { text in
                text.field("path", lossy: difference.path)
                text.field("message", difference.message)
              })
          } else {
            try output.write(difference.description + "\n")
          }
        } catch {
          failure = error
          throw ArchiveError(.cancelled, "comparing ended")
        }
      }
    } catch {
      throw failure ?? Failure(error, about: reading.name)
    }
    session.reporter.finish()
    return count > 0 ? .degraded : session.status(warnings: reader.warningCount)
  }
}
