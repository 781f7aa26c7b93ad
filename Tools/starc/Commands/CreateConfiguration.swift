internal import ArchiveEngine
internal import CommandLineTool

/// What `create` is to do.
struct CreateConfiguration: Sendable {
  static let directory = OptionSpec(
    "directory", short: "C", value: "DIR", "PATHs are relative to DIR. Default: the current directory.")
  static let level = OptionSpec("level", value: "N", "zstd level, 1 (fast) to 19 (small). Default: 3.")
  static let store = OptionSpec("store", "Do not compress.")
  static let chunkSize = OptionSpec(
    "chunk-size", value: "SIZE", "Bytes that are compressed as one piece, 64K to 32M. Default: 4M.")
  static let exclude = OptionSpec(
    "exclude", value: "GLOB", "Leave out what matches, with all below it; *, ? and [...] match \"/\" too. Repeatable.")
  static let filesFrom = OptionSpec(
    "files-from", short: "T", value: "FILE", "Take PATHs also from FILE (\"-\" is standard input), one a line.")
  static let null = OptionSpec("null", "The entries of --files-from end with NUL instead of a newline.")
  static let oneFileSystem = OptionSpec("one-file-system", "Do not go into other file systems.")
  static let noXattrs = OptionSpec("no-xattrs", "Leave extended attributes and ACLs out.")
  static let numericOwner = OptionSpec("numeric-owner", "Leave the names of users and groups out.")
  static let verifyWrites = OptionSpec("verify-writes", "Decompress everything again before it is written.")
  static let noSync = OptionSpec("no-sync", "Do not wait until the archive is on the disk.")

  static let options = [
    directory, level, store, chunkSize, .threads, exclude, filesFrom, null, oneFileSystem, noXattrs, numericOwner,
    verifyWrites, noSync,
  ]

  /// Where the archive goes.
  let archive: [UInt8]
  let paths: [SourcePath]
  let directory: [UInt8]
  let filesFrom: [UInt8]?
  let isNullSeparated: Bool
  let excluding: [GlobPattern]
  let syncs: Bool
  let writesJSON: Bool
  let isQuiet: Bool
  private(set) var writer = WriterOptions()

  /// Whether the archive goes to standard output.
  var isStandardOutput: Bool { archive.elementsEqual("-".utf8) }

  init(_ arguments: ParsedArguments, _ common: CommonConfiguration) throws(Failure) {
    guard let archive = arguments.operands.first else { throw .usage("ARCHIVE and PATH are missing") }
    if archive.isEmpty { throw .usage("the archive's name is empty") }
    self.archive = archive
    var paths: [SourcePath] = []
    for path in arguments.operands.dropFirst() { paths.append(try SourcePath(path)) }
    self.paths = paths
    filesFrom = arguments.bytes(Self.filesFrom)
    if paths.isEmpty && filesFrom == nil { throw .usage("PATH is missing: nothing to archive") }
    isNullSeparated = arguments.has(Self.null)
    directory = arguments.bytes(Self.directory) ?? Array(".".utf8)
    if directory.isEmpty { throw .usage("--directory is empty") }
    excluding = arguments.values(Self.exclude).map { GlobPattern($0) }
    syncs = !arguments.has(Self.noSync)
    writesJSON = common.writesJSON
    isQuiet = common.isQuiet

    let level = try arguments.number(Self.level, in: 1...19)
    if level != nil && arguments.has(Self.store) { throw .usage("--level and --store exclude each other") }
    writer.level = arguments.has(Self.store) ? 0 : level ?? writer.level
    if let size = try arguments.size(Self.chunkSize) {
      let range = WriterOptions.chunkByteCountRange
      guard let count = Int(exactly: size), range.contains(count) else {
        throw .usage("--chunk-size: \(size) bytes are not between 64K and 32M")
      }
      writer.chunkByteCount = count
    }
    writer.threadCount = try arguments.number(.threads, in: 1...256) ?? 0
    writer.verifiesWrites = arguments.has(Self.verifyWrites)
    writer.includesExtendedAttributes = !arguments.has(Self.noXattrs)
    writer.usesNumericOwners = arguments.has(Self.numericOwner)
    writer.staysOnFileSystem = arguments.has(Self.oneFileSystem)
  }
}
