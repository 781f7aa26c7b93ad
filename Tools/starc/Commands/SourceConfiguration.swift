internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

/// What is to be archived, and how: what `create` and `estimate` have in common.
struct SourceConfiguration: Sendable {
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

  static let options = [
    directory, level, store, chunkSize, .threads, exclude, filesFrom, null, oneFileSystem, noXattrs, numericOwner,
  ]

  let paths: [SourcePath]
  let directory: [UInt8]
  let filesFrom: [UInt8]?
  let isNullSeparated: Bool
  let excluding: [GlobPattern]
  var writer = WriterOptions()

  init(_ operands: ArraySlice<[UInt8]>, _ arguments: ParsedArguments) throws(Failure) {
    var paths: [SourcePath] = []
    for path in operands { paths.append(try SourcePath(path)) }
    self.paths = paths
    filesFrom = arguments.bytes(Self.filesFrom)
    if paths.isEmpty && filesFrom == nil { throw .usage("PATH is missing: nothing to archive") }
    isNullSeparated = arguments.has(Self.null)
    directory = arguments.bytes(Self.directory) ?? Array(".".utf8)
    if directory.isEmpty { throw .usage("--directory is empty") }
    excluding = arguments.values(Self.exclude).map { GlobPattern($0) }

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
    writer.includesExtendedAttributes = !arguments.has(Self.noXattrs)
    writer.usesNumericOwners = arguments.has(Self.numericOwner)
    writer.staysOnFileSystem = arguments.has(Self.oneFileSystem)
  }

  /// The directory that paths are relative to.
  func openDirectory() throws(Failure) -> SharedDescriptor {
    try system(about: directory) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, directory, [.readOnly, .directory]))
    }
  }

  /// The paths, with those of the list, each once and none that lies in another.
  func sources(in directory: Int32, _ session: Session) throws(Failure) -> [SourcePath] {
    var sources: [SourcePath] = []
    for path in paths {
      // A mistyped name ends the run before anything is made.
      _ = try system(about: path.path) { () throws(SystemError) in try FileSystem.status(at: directory, path.path) }
      sources.append(path)
    }
    if let list = filesFrom {
      let entries = try PathList.read(list, isNullSeparated: isNullSeparated, token: session.cancellation)
      for entry in entries {
        let path = try SourcePath(entry, isListed: true)
        do throws(SystemError) {
          _ = try FileSystem.status(at: directory, entry)
          sources.append(path)
        } catch {
          session.reporter.warn(ArchiveWarning(path: entry, message: "\(error.message); left out"))
        }
      }
    }
    if sources.contains(where: \.isAbsolute) { session.reporter.note("dropping the leading \"/\" from names") }
    var cover = SourceCover(sources, in: directory, staysOnFileSystem: writer.staysOnFileSystem)
    return cover.reduce(sources)
  }

  /// Predicts the archive of these sources. What is left out is told to `warn`.
  func estimate(
    _ sources: [SourcePath], in directory: Int32, _ session: Session, samplesContents: Bool = true,
    prepare: (SizeEstimator) -> Void = { _ in }, warn: @escaping @Sendable (ArchiveWarning) -> Void
  ) throws(ArchiveError) -> SizeEstimate {
    let estimator = try SizeEstimator(
      options: writer, samplesContents: samplesContents, cancellation: session.cancellation, onWarning: warn)
    prepare(estimator)
    for source in sources {
      do throws(ArchiveError) {
        try estimator.addTree(at: source.path, as: source.archivePath, in: directory, excluding: excluding)
      } catch {
        // Files may vanish between the making of a list and its use.
        guard source.isListed, error.code == .notFound else { throw error }
        warn(ArchiveWarning(path: source.path, message: "\(error.message); left out"))
      }
    }
    return try estimator.finish()
  }
}
