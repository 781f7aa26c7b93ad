internal import ArchiveFormat
public import ArchiveIO

/// Reads one archive: ours through its index, anybody's tar or zstd-compressed tar as a stream.
///
/// One thread calls it. From a file every call starts at the beginning; from a pipe there can be only one.
public final class ArchiveReader {
  /// Opens an archive file. A FIFO, or a descriptor's path such as `/dev/stdin`, is read as a stream.
  ///
  /// - Parameters:
  ///   - threadCount: lanes; 0 takes the cores that this process may use.
  ///   - onEvent: called on threads of the reader, one at a time.
  public init(
    path: [UInt8], limits: ReadLimits = .init(), threadCount: Int = 0, cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (ReaderEvent) -> Void = { _ in }
  ) throws(ArchiveError) {}

  /// Reads from an open descriptor, which stays the caller's: a regular file from its first byte, anything else as a stream.
  public init(
    descriptor: Int32, limits: ReadLimits = .init(), threadCount: Int = 0, cancellation: CancellationToken? = nil,
    onEvent: @escaping @Sendable (ReaderEvent) -> Void = { _ in }
  ) throws(ArchiveError) {}

  /// Whether the archive is read through an index of ours.
  public var isIndexed: Bool { false }

  /// Oddities found by the last call, each of which makes a run less than clean; they were reported as warnings.
  public private(set) var warningCount: UInt64 = 0

  /// Calls `body` for every member that is selected, in archive order. With an index only that is read.
  ///
  /// - Parameter selection: paths or directory prefixes; empty is all. One that matches nothing is an error (`notFound`) after all others were listed.
  public func list(
    selection: [[UInt8]] = [], _ body: (ListedMember) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {}

  /// What is known of the archive. Without an index all of it is read.
  public func info() throws(ArchiveError) -> ArchiveInfo { ArchiveInfo() }

  /// Writes the content of one file to a sink; holes of a sparse one as zeros. Hard links lead to their file.
  public func read(_ path: [UInt8], to sink: any ArchiveSink) throws(ArchiveError) {}

  /// Writes the content of one file to a descriptor.
  public func read(_ path: [UInt8], to descriptor: Int32) throws(ArchiveError) {}

  /// Extracts to a directory. One that does not exist is staged beside it and appears only when all is done.
  public func extract(to path: [UInt8], options: ExtractOptions = .init()) throws(ArchiveError) -> ExtractSummary {
    ExtractSummary()
  }

  /// Checks the archive: all of it, or (`quick`, with an index only) the hashes of the stored bytes without decompressing.
  ///
  /// Damage does not end the run; the report names it.
  public func verify(quick: Bool = false) throws(ArchiveError) -> VerifyReport { VerifyReport() }

  /// Compares with a directory: names, types, contents, modes, times, links, attributes.
  ///
  /// - Returns: the number of differences, each of which was given to `body`.
  public func compare(
    with directory: [UInt8], _ body: (TreeDifference) throws(ArchiveError) -> Void
  ) throws(ArchiveError) -> UInt64 { 0 }

  /// Bytes of content that a run over the selection will go through, for progress; nil when it cannot be known beforehand.
  public func contentByteCount(selection: [[UInt8]] = []) throws(ArchiveError) -> (bytes: UInt64, members: UInt64)? { nil }
}
