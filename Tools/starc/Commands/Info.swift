internal import ArchiveEngine
internal import CommandLineTool

extension Command {
  static let info = Command(
    name: "info",
    summary: "show the totals and settings of an archive",
    usage: ["ARCHIVE"],
    details: [
      "An indexed archive tells without being read, and its index is relied on (verify compares it with the tar stream); "
        + "any other one is read to its end."
    ],
    options: OptionSpec.reading,
    examples: ["starc info backup.tar.zst", "starc info --json backup.tar.zst | jq .archiveBytes"],
    prepare: { arguments, common throws(Failure) in
      guard arguments.operands.count == 1 else { throw .usage("one ARCHIVE is needed") }
      let reading = try ReadingConfiguration(archive: arguments.operands[0], arguments)
      return { session throws(Failure) in
        let reader = try reading.open(session)
        if !reader.isIndexed { try reading.beginProgress("info", of: reader, session) }
        let info = try engine(about: reading.name) { () throws(ArchiveError) in try reader.info() }
        session.reporter.finish()
        if common.writesJSON {
          try session.output.write(json(info))
        } else {
          try session.output.write(text(info))
        }
        return session.status(warnings: reader.warningCount)
      }
    })

  private static func text(_ info: ArchiveInfo) -> String {
    var rows: [(String, String)] = [
      ("format", info.formatVersion.map { "starc, version \($0)" } ?? "tar, without index"),
      ("entries", SizeText.grouped(info.entryCount)),
      ("files", SizeText.grouped(info.fileCount)),
      ("content", bytes(info.contentByteCount)),
      ("tar", bytes(info.tarByteCount)),
      ("archive", bytes(info.archiveByteCount)),
    ]
    if info.isIndexed {
      rows.append(("chunks", SizeText.grouped(info.chunkCount)))
      if let size = info.chunkByteCount { rows.append(("chunk size", bytes(size))) }
      if let level = info.level { rows.append(("level", level == 0 ? "stored" : String(level))) }
      if let digest = info.digest { rows.append(("digest", digest)) }
    }
    for (key, value) in info.manifest {
      rows.append(("manifest", PathText.printable(Array(key.utf8)) + " = " + PathText.printable(Array(value.utf8))))
    }
    return rows.map { $0.0 + ":" + String(repeating: " ", count: 12 - $0.0.count) + $0.1 + "\n" }.joined()
  }

  private static func bytes(_ count: UInt64) -> String {
    count < 1000 ? "\(count) bytes" : "\(SizeText.grouped(count)) bytes (\(SizeText.decimal(count)))"
  }

  private static func json(_ info: ArchiveInfo) -> [UInt8] {
    JSONText.line { text in
      text.field("formatVersion", info.formatVersion)
      text.field("entries", info.entryCount)
      text.field("files", info.fileCount)
      text.field("contentBytes", info.contentByteCount)
      text.field("tarBytes", info.tarByteCount)
      text.field("archiveBytes", info.archiveByteCount)
      text.field("chunks", info.chunkCount)
      text.field("chunkSize", info.chunkByteCount)
      text.field("level", info.level)
      text.field("indexed", info.isIndexed)
      text.field("digest", info.digest)
      text.name("manifest")
      text.object { text in
        for (index, pair) in info.manifest.enumerated() {
          // A closing pair replaces an opening one of the same key: keys in JSON come once.
          let isLast = !info.manifest[(index + 1)...].contains { $0.key.utf8.elementsEqual(pair.key.utf8) }
          if isLast { text.field(pair.key, pair.value) }
        }
      }
    }
  }
}
