internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

/// What is common to the commands that read an archive.
struct ReadingConfiguration: Sendable {
  /// The archive's path; `-` is standard input.
  let archive: [UInt8]
  let threadCount: Int
  var limits = ReadLimits()

  /// How the archive is called in messages.
  var name: [UInt8] { isStandardInput ? Array("standard input".utf8) : archive }

  private var isStandardInput: Bool { archive.elementsEqual("-".utf8) }

  init(archive: [UInt8], _ arguments: ParsedArguments) throws(Failure) {
    if archive.isEmpty { throw .usage("the archive's name is empty") }
    self.archive = archive
    threadCount = try arguments.number(.threads, in: 1...256) ?? 0
    if let size = try arguments.size(.memoryLimit) { limits.memoryByteCount = Int(clamping: size) }
  }

  /// Opens the archive; warnings and progress go to the session's reporter.
  func open(_ session: Session) throws(Failure) -> ArchiveReader {
    let reporter = session.reporter
    let onEvent: @Sendable (ReaderEvent) -> Void = { event in
      switch event {
      case .progress(let progress): reporter.update(progress)
      case .warning(let warning): reporter.warn(warning)
      case .manifest: break
      }
    }
    return try engine(about: name) { () throws(ArchiveError) in
      if isStandardInput {
        return try ArchiveReader(
          descriptor: 0, limits: limits, threadCount: threadCount, cancellation: session.cancellation, onEvent: onEvent)
      }
      return try ArchiveReader(
        path: archive, limits: limits, threadCount: threadCount, cancellation: session.cancellation, onEvent: onEvent)
    }
  }

  /// Begins to show progress, with the total where it can be known.
  func beginProgress(
    _ label: String, of reader: ArchiveReader, selection: [[UInt8]] = [], _ session: Session
  ) throws(Failure) {
    guard session.reporter.showsProgress else { return }
    let total = try engine(about: name) { () throws(ArchiveError) in
      try reader.contentByteCount(selection: selection)
    }
    session.reporter.begin(label, totalByteCount: total?.bytes)
  }
}
