/// What a directory frame says of one page.
public struct PageDescriptor: Sendable, Equatable {
  /// Bytes of the page frame as stored.
  public var storedByteCount: UInt32
  /// Data frames of the page.
  public var chunkCount: UInt32
  /// Members whose records the page holds.
  public var memberCount: UInt32
  /// Sum of the stored sizes of the page's data frames (without the preamble that lies between those of page 0).
  public var framesStoredByteCount: UInt64
  /// Sum of the tar bytes of the page's data frames.
  public var contentByteCount: UInt64
  /// ``IndexPage/openByteCount`` of the page.
  public var openByteCount: UInt64
  /// XXH3-64 of the whole page frame as stored.
  public var pageHash: UInt64

  /// A descriptor from its parts.
  public init(
    storedByteCount: UInt32, chunkCount: UInt32, memberCount: UInt32, framesStoredByteCount: UInt64,
    contentByteCount: UInt64, openByteCount: UInt64, pageHash: UInt64
  ) {
    self.storedByteCount = storedByteCount
    self.chunkCount = chunkCount
    self.memberCount = memberCount
    self.framesStoredByteCount = framesStoredByteCount
    self.contentByteCount = contentByteCount
    self.openByteCount = openByteCount
    self.pageHash = pageHash
  }

  /// Bytes of the page's name filter; follows from the number of members.
  public var filterByteCount: Int { NameFilter.byteCount(memberCount: Int(memberCount)) }
}

/// One directory frame: descriptors of consecutive pages and their name filters.
public struct PageDirectory: Sendable, Equatable {
  public var pages: [PageDescriptor]
  /// The filters of all pages, one behind the other; lengths are ``PageDescriptor/filterByteCount``.
  public var filters: [UInt8]

  /// A directory; ``encodedFrame()`` checks it.
  public init(pages: [PageDescriptor], filters: [UInt8]) {
    self.pages = pages
    self.filters = filters
  }

  /// Indices, in this directory, of the pages that may hold a path with this hash (``NameFilter/hash(_:)``).
  public func candidates(nameHash: UInt64) -> [Int] { [] }

  /// The whole skippable frame, canonical.
  ///
  /// - Throws: `limitExceeded`, `malformed` for values that the format does not allow.
  public func encodedFrame() throws(FormatError) -> [UInt8] { throw FormatError(.unsupported, "later") }

  /// Reads a whole frame.
  ///
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported`, offsets in the frame.
  public init(decodingFrame frame: Span<UInt8>) throws(FormatError) { throw FormatError(.unsupported, "later") }
}
