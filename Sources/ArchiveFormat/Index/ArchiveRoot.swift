/// Sums over an archive.
public struct ArchiveTotals: Sendable, Equatable {
  /// Data frames, end frame included.
  public var chunkCount: UInt64 = 0
  /// Pages, end page included.
  public var pageCount: UInt64 = 0
  /// Members of all kinds.
  public var memberCount: UInt64 = 0
  /// Members that are files.
  public var fileCount: UInt64 = 0
  /// Members that are marked incomplete.
  public var incompleteCount: UInt64 = 0
  /// Sum of the files' logical sizes.
  public var contentByteCount: UInt64 = 0
  /// Bytes of the tar stream, end blocks included.
  public var tarByteCount: UInt64 = 0
  /// Stored bytes of all data frames.
  public var dataStoredByteCount: UInt64 = 0
  /// Stored bytes of all page frames.
  public var pagesStoredByteCount: UInt64 = 0

  /// All zero.
  public init() {}
}

/// Size and hash of a directory frame as stored.
public struct DirectoryReference: Sendable, Equatable {
  public var storedByteCount: UInt32
  /// XXH3-64 of the whole directory frame.
  public var hash: UInt64

  /// A reference to a frame.
  public init(storedByteCount: UInt32, hash: UInt64) {
    self.storedByteCount = storedByteCount
    self.hash = hash
  }
}

/// The frame from which everything else in the archive is found and checked.
public struct ArchiveRoot: Sendable, Equatable {
  public var settings: ArchiveSettings
  public var opening: Manifest
  public var closing: Manifest
  public var totals: ArchiveTotals
  /// The directory frames, in order; they lie directly before the root.
  public var directories: [DirectoryReference]

  /// A root; ``encodedFrame()`` checks it.
  public init(
    settings: ArchiveSettings, opening: Manifest, closing: Manifest, totals: ArchiveTotals,
    directories: [DirectoryReference]
  ) {
    self.settings = settings
    self.opening = opening
    self.closing = closing
    self.totals = totals
    self.directories = directories
  }

  /// The preamble that belongs to this root.
  public var preamble: Preamble { Preamble(settings: settings, opening: opening) }

  /// Bytes of the footer that ends a root frame: size of the frame and a signature.
  public static let footerByteCount = 12

  /// The whole skippable frame, canonical.
  ///
  /// - Throws: `limitExceeded`, `malformed` for values that the format does not allow.
  public func encodedFrame() throws(FormatError) -> [UInt8] { throw FormatError(.unsupported, "later") }

  /// The archive digest in an encoded root frame: XXH3-128 over the whole frame before it. It covers all:
  /// root, directory frames by their hashes, pages by theirs, data frames by theirs.
  public static func digest(ofFrame frame: Span<UInt8>) throws(FormatError) -> Hash128 {
    throw FormatError(.unsupported, "later")
  }

  /// Reads a whole frame and checks its digest.
  ///
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported`, `mismatch` (digest), offsets in the frame.
  public init(decodingFrame frame: Span<UInt8>) throws(FormatError) { throw FormatError(.unsupported, "later") }

  /// Size of the root frame that ends with these 12 bytes (the end of a file without seek table, or what lies
  /// before the seek table); nil when they are no footer.
  public static func frameByteCount(footer: Span<UInt8>) -> Int? { nil }

  /// Looks backwards for the footer of a root, for files whose seek table is damaged or missing.
  ///
  /// - Returns: where in `tail` the root frame ends, and its size.
  public static func findFooter(in tail: Span<UInt8>) -> (end: Int, frameByteCount: Int)? { nil }
}
