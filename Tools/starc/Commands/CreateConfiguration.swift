internal import ArchiveEngine
internal import CommandLineTool

/// What `create` is to do.
struct CreateConfiguration: Sendable {
  static let verifyWrites = OptionSpec("verify-writes", "Decompress everything again before it is written.")
  static let noSync = OptionSpec("no-sync", "Do not wait until the archive is on the disk.")

  static let options = SourceConfiguration.options + [verifyWrites, noSync]

  /// Where the archive goes.
  let archive: [UInt8]
  let source: SourceConfiguration
  let syncs: Bool
  let writesJSON: Bool
  let isQuiet: Bool

  /// Whether the archive goes to standard output.
  var isStandardOutput: Bool { archive.elementsEqual("-".utf8) }

  init(_ arguments: ParsedArguments, _ common: CommonConfiguration) throws(Failure) {
    guard let archive = arguments.operands.first else { throw .usage("ARCHIVE and PATH are missing") }
    if archive.isEmpty { throw .usage("the archive's name is empty") }
    self.archive = archive
    var source = try SourceConfiguration(arguments.operands.dropFirst(), arguments)
    source.writer.verifiesWrites = arguments.has(Self.verifyWrites)
    self.source = source
    syncs = !arguments.has(Self.noSync)
    writesJSON = common.writesJSON
    isQuiet = common.isQuiet
  }
}
