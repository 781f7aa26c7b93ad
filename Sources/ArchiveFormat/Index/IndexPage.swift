/// The description of a run of chunks and of the members that end in them.
///
/// A member belongs to the page in whose chunks its last byte (with padding) lies, because only then its hash is
/// known. Positions are relative to the page's first content byte and follow from sizes: the first member begins
/// ``openByteCount`` bytes before it, each other one where its predecessor ends. What is left behind the last
/// member (``tailByteCount``) is the beginning of a member of a later page, whose `openByteCount` it is; only in
/// the end page it is the tar's end blocks.
public struct IndexPage: Sendable, Equatable {
  /// Bytes of a member, header included, that lie before the page's first chunk; 0 when a member begins there.
  public var openByteCount: UInt64
  /// The page is the last: one chunk that holds the 1024 zero bytes of the end of the tar, and no member.
  public var isEnd: Bool
  /// The chunks since the previous page, in order; at least one.
  public var chunks: [ChunkRecord]
  /// The members that end in these chunks, in archive order.
  public var members: [IndexedMember]

  /// A page; ``encoded()`` checks it.
  public init(openByteCount: UInt64 = 0, isEnd: Bool = false, chunks: [ChunkRecord], members: [IndexedMember]) {
    self.openByteCount = openByteCount
    self.isEnd = isEnd
    self.chunks = chunks
    self.members = members
  }

  /// The page of the end frame.
  public static func end(chunk: ChunkRecord) -> IndexPage { IndexPage(isEnd: true, chunks: [chunk], members: []) }

  /// Tar bytes in the page's chunks.
  public var contentByteCount: UInt64 { chunks.reduce(0) { $0 &+ UInt64($1.contentByteCount) } }

  /// Stored bytes of the page's data frames.
  public var framesStoredByteCount: UInt64 { chunks.reduce(0) { $0 &+ UInt64($1.storedByteCount) } }

  /// Bytes, header included, of the member that is open at the page's end; 0 when none is, and in the end page.
  public var tailByteCount: UInt64 {
    if isEnd { return 0 }
    return members.reduce(contentByteCount &+ openByteCount) { $0 &- $1.tarByteCount }
  }

  /// Offset of each member's header, relative to the page's first content byte. Only the first may be negative.
  public var headerOffsets: [Int64] {
    var position = -Int64(clamping: openByteCount)
    return members.map { member in
      defer { position &+= Int64(clamping: member.tarByteCount) }
      return position
    }
  }
}
