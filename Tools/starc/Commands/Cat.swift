internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  static let cat = Command(
    name: "cat",
    summary: "write the content of one file to standard output",
    usage: ["ARCHIVE MEMBER"],
    details: [
      "From an indexed archive only the chunks that hold the file are read. Holes come out as zeros; a hard link leads "
        + "to its file, and of several members with the name the last counts. From a pipe the content is held in $TMPDIR until the "
        + "archive has come to its end."
    ],
    options: OptionSpec.reading,
    examples: [
      "starc cat project.tar.zst project/README.md | less",
      "ssh host cat backup.tar.zst | starc cat - var/lib/db.dump > db.dump",
    ],
    writesWhileRunning: true,
    prepare: { arguments, common throws(Failure) in
      guard arguments.operands.count == 2 else { throw .usage("ARCHIVE and one MEMBER are needed") }
      if common.writesJSON { throw .usage("--json is not possible: the content is written as it is") }
      let reading = try ReadingConfiguration(archive: arguments.operands[0], arguments)
      let member = arguments.operands[1]
      return { session throws(Failure) in
        let reader = try reading.open(session)
        try reading.beginProgress("cat", of: reader, selection: [member], session)
        try engine(about: reading.name) { () throws(ArchiveError) in try reader.read(member, to: 1) }
        session.reporter.finish()
        return session.status(warnings: reader.warningCount)
      }
    })
}
