/// What the directory, the root and the seek table need to know of a page. Made by whoever encoded or decoded it
/// (a lane: the name filter costs time), taken by ``IndexAccumulator`` in archive order.
public struct PageSummary: Sendable, Equatable {
  public var descriptor: PageDescriptor
  public var chunks: [ChunkRecord]
  /// Name filter of the page's members.
  public var filter: [UInt8]
  public var fileCount: UInt64
  public var incompleteCount: UInt64
  /// Sum of the files' logical sizes.
  public var contentByteCount: UInt64
  /// ``IndexPage/tailByteCount``.
  public var tailByteCount: UInt64
  public var isEnd: Bool

  /// Sums up a page that ``IndexPage/encoded()`` accepts; `frame` is the whole page frame as stored.
  ///
  /// - Throws: `limitExceeded`.
  public init(page: IndexPage, frame: Span<UInt8>) throws(FormatError) { throw FormatError(.unsupported, "later") }
}

/// Makes everything that follows the last page: directory frames, root and seek table. Shared by the writer and by
/// `verify`, which compares. Keeps at most 16 bytes a frame and the name filters.
public struct IndexAccumulator: Sendable {
  public let settings: ArchiveSettings
  public let opening: Manifest
  /// The preamble frame, to be written behind the first data frame.
  public let preambleFrame: [UInt8]
  /// Sums over the pages so far.
  public private(set) var totals = ArchiveTotals()

  /// Starts an archive.
  ///
  /// - Throws: `limitExceeded`, `malformed` for settings or a manifest that the format does not allow.
  public init(settings: ArchiveSettings, opening: Manifest) throws(FormatError) {
    throw FormatError(.unsupported, "later")
  }

  /// Adds the next page.
  ///
  /// - Throws: `malformed` when the page does not continue the one before it or follows the end page;
  ///   `limitExceeded`.
  public mutating func add(_ summary: PageSummary) throws(FormatError) { throw FormatError(.unsupported, "later") }

  /// The frames behind the end page, in order: directories, root, seek table (none when it cannot hold the sizes).
  ///
  /// - Returns: the root, its digest included in the frame that was emitted.
  /// - Throws: what `emit` throws, and ``FormatError`` wrapped by `wrap` (`malformed` when the end page is missing).
  public consuming func finish<Failure: Error>(
    closing: Manifest, wrap: (FormatError) -> Failure, emit: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> ArchiveRoot { throw wrap(FormatError(.unsupported, "later")) }

  /// The same frames in one array, for small archives and tests.
  public consuming func finish(closing: Manifest) throws(FormatError) -> [[UInt8]] {
    throw FormatError(.unsupported, "later")
  }
}
