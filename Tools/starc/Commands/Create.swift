internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool
internal import Glibc

extension Command {
  static let create = Command(
    name: "create",
    summary: "make an archive of files and directories",
    usage: ["ARCHIVE PATH...", "ARCHIVE --files-from FILE"],
    details: [
      "Directories are stored with everything in them. Symlinks are stored, not followed. A leading \"/\" is dropped; "
        + "\"..\" is refused. A PATH that lies in another one is stored once.",
      "The archive appears under its name when it is complete; until then, and when the run fails, an old file of "
        + "that name stays as it was. With \"-\" the archive goes to standard output and --json to standard error.",
      "Files that cannot be read are named and left out, and the exit status is 1.",
      "With --json or with progress shown a sample is compressed first, as by estimate: for estimatedBytes, for the time that is left, "
        + "and to fail before anything is written where the archive cannot fit. A plain create does not wait for that.",
    ],
    options: CreateConfiguration.options,
    examples: [
      "starc create project.tar.zst project",
      "starc create --level 9 --exclude '*.o' --exclude .git src.tar.zst -C /home/ada src",
      "find . -newer stamp -print0 | starc create new.tar.zst --null --files-from -",
      "starc create - project | ssh host starc extract - project",
    ],
    needsWholeOutput: true,
    prepare: { arguments, common throws(Failure) in
      let configuration = try CreateConfiguration(arguments, common)
      return { session throws(Failure) in try Create(configuration, session).run() }
    })
}

/// Makes an archive.
private struct Create {
  private let configuration: CreateConfiguration
  private let session: Session
  private let start = ContinuousClock.now

  init(_ configuration: CreateConfiguration, _ session: Session) {
    self.configuration = configuration
    self.session = session
  }

  func run() throws(Failure) -> ExitStatus {
    if configuration.isStandardOutput { try session.output.requireArchiveDestination() }
    let directory = try configuration.source.openDirectory()
    let paths = try configuration.source.sources(in: directory.rawValue, session)
    if configuration.isStandardOutput {
      let (summary, estimate) = try write(paths, in: directory.rawValue, to: 1)
      return try end(summary, estimate, stdoutIsTaken: true)
    }
    let file = try openOutput()
    if file.isDirect, isatty(file.descriptor.rawValue) == 1 {
      throw .usage("refusing to write an archive to a terminal; name a file")
    }
    do throws(Failure) {
      let (summary, estimate) = try write(
        paths, in: directory.rawValue, to: file.descriptor.rawValue, replacing: file.replaced)
      if session.cancellation.isCancelled { throw .cancelled }
      try system(about: configuration.archive) { () throws(SystemError) in try file.commit(sync: configuration.syncs) }
      return try end(summary, estimate, stdoutIsTaken: file.isDirect)
    } catch {
      file.abandon()
      throw error
    }
  }

  private func openOutput() throws(Failure) -> OutputFile {
    do throws(SystemError) { return try OutputFile(path: configuration.archive) } catch {
      if error.errno == EWOULDBLOCK {
        throw .failed(PathText.printable(configuration.archive) + ": another run is writing this archive")
      }
      throw Failure(error, about: configuration.archive)
    }
  }

  // MARK: What is to be expected

  /// Predicts the archive, when somebody looks at progress or reads the summary's `estimatedBytes`; nil otherwise, since it takes time.
  private func estimate(
    _ paths: [SourcePath], in directory: Int32, to descriptor: Int32, replacing replaced: ReplacedFile?
  ) throws(ArchiveError) -> SizeEstimate? {
    guard session.reporter.showsProgress || configuration.writesJSON else { return nil }
    return try configuration.source.estimate(
      paths, in: directory, session,
      prepare: { estimator in
        estimator.leaveOut(output: descriptor)
        estimator.replacedFile = replaced
      },
      // Writing finds the same, and tells it then.
      warn: { _ in })
  }

  /// Ends the run before anything is written when the archive will not fit.
  private func checkSpace(for estimate: SizeEstimate, on descriptor: Int32) throws(ArchiveError) {
    guard let status = try? FileSystem.status(of: descriptor), status.kind == .regular,
      let free = try? ProcessFacts.freeSpace(of: descriptor).bytes, free < estimate.archiveByteCountLow
    else { return }
    throw ArchiveError(
      .noSpace,
      "the archive will have at least \(estimate.archiveByteCountLow) bytes, and \(free) are free where it goes")
  }

  // MARK: Writing

  private func write(
    _ paths: [SourcePath], in directory: Int32, to descriptor: Int32, replacing replaced: ReplacedFile? = nil
  ) throws(Failure) -> (WriteSummary, SizeEstimate?) {
    let reporter = session.reporter
    return try engine(about: configuration.archive) { () throws(ArchiveError) in
      let estimate = try estimate(paths, in: directory, to: descriptor, replacing: replaced)
      if let estimate {
        try checkSpace(for: estimate, on: descriptor)
        reporter.begin("create", totalByteCount: estimate.contentByteCount)
      }
      let writer = try ArchiveWriter(
        to: descriptor, options: configuration.source.writer, cancellation: session.cancellation,
        onEvent: { event in
          switch event {
          case .progress(let progress): reporter.update(progress)
          case .warning(let warning): reporter.warn(warning)
          }
        })
      writer.replacedFile = replaced
      for source in paths { try append(source, in: directory, to: writer) }
      return (try writer.finish(), estimate)
    }
  }

  private func append(_ source: SourcePath, in directory: Int32, to writer: ArchiveWriter) throws(ArchiveError) {
    do throws(ArchiveError) {
      try writer.appendTree(
        at: source.path, as: source.archivePath, in: directory, excluding: configuration.source.excluding)
    } catch {
      // Files may vanish between the making of a list and its use.
      guard source.isListed, error.code == .notFound else { throw error }
      session.reporter.warn(ArchiveWarning(path: source.path, message: "\(error.message); left out"))
    }
  }

  private func end(_ summary: WriteSummary, _ estimate: SizeEstimate?, stdoutIsTaken: Bool) throws(Failure)
    -> ExitStatus
  {
    session.reporter.finish()
    let elapsed = ContinuousClock.now - start
    let warningCount = max(summary.warningCount, session.reporter.degradationCount)
    if configuration.writesJSON {
      try show(json(summary, estimate, elapsed, warningCount), stdoutIsTaken)
    } else if !configuration.isQuiet && !stdoutIsTaken {
      try show(Array(text(summary, elapsed).utf8), false)
    }
    return session.status(warnings: summary.warningCount)
  }

  private func show(_ bytes: [UInt8], _ stdoutIsTaken: Bool) throws(Failure) {
    if stdoutIsTaken { session.reporter.show(bytes) } else { try session.output.write(bytes) }
  }

  private func text(_ summary: WriteSummary, _ elapsed: Duration) -> String {
    let entries = SizeText.grouped(summary.entryCount)
    let (content, stored) = (SizeText.decimal(summary.contentByteCount), SizeText.decimal(summary.archiveByteCount))
    return """
      \(PathText.printable(configuration.archive)): \(entries) entries, \(content) in \(stored), \
      \(SizeText.grouped(summary.chunkCount)) chunks, \(TimeText.seconds(elapsed)), digest \(summary.digest)

      """
  }

  private func json(
    _ summary: WriteSummary, _ estimate: SizeEstimate?, _ elapsed: Duration, _ warningCount: UInt64
  ) -> [UInt8] {
    JSONText.line { text in
      text.field("entries", summary.entryCount)
      text.field("files", summary.fileCount)
      text.field("contentBytes", summary.contentByteCount)
      text.field("tarBytes", summary.tarByteCount)
      text.field("archiveBytes", summary.archiveByteCount)
      text.field("chunks", summary.chunkCount)
      text.field("storedChunks", summary.storedChunkCount)
      text.field("seconds", seconds: elapsed)
      text.field("estimatedBytes", estimate?.archiveByteCount)
      text.field("digest", summary.digest)
      text.field("warnings", warningCount)
    }
  }
}
