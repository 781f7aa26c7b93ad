/// Bounds on what may grow in the index (specification, "Limits"). Checked before memory is taken, by writer and reader.
public enum IndexLimits {
  /// Decoded payload of a page, and also the sum of all paths and link targets of a page in full length.
  public static let pageByteCount = 64 << 20
  /// A page frame as stored: an incompressible payload grows a little.
  public static let pageFrameByteCount = (64 << 20) + (1 << 20)
  /// Members of one page.
  public static let pageMemberCount = 65_536
  /// Chunks of one page (the writer ends a page after 64).
  public static let pageChunkCount = 1_024
  /// Content of one chunk.
  public static let chunkContentByteCount = 64 << 20
  /// Stored bytes of one chunk: incompressible content grows a little.
  public static let chunkStoredByteCount = (64 << 20) + (1 << 20)
  /// Sparse extents of one member, as in the tar reader.
  public static let extentCount = 1_000_000
  /// Sparse extents of all members of a page.
  public static let pageExtentCount = 2_000_000
  /// Names and values of all attributes and ACLs of one member: they fit in a pax header.
  public static let attributeByteCount = 1 << 20
  /// Attributes of one member.
  public static let attributeCount = 65_536
  /// Attributes of all distinct sets of attributes of a page.
  public static let pageAttributeCount = 1 << 20
  /// Logical size of a file.
  public static let fileByteCount: UInt64 = 1 << 60
  /// Everything of a member before its data: tar headers, pax records, long names and the sparse map.
  public static let headerByteCount: UInt64 = 1 << 26
  /// Bytes of one member before a page: a header and a file of the greatest size.
  public static let openByteCount: UInt64 = (1 << 60) + (1 << 26) + 512
  /// Payload of a directory frame, without the 16 bytes of frame and index header.
  public static let directoryByteCount = 1 << 20
  /// Stored bytes, tar bytes and counts of a whole archive.
  public static let totalCount: UInt64 = 1 << 60
  /// Pages of a directory frame.
  public static let directoryPageCount = 65_536
  /// Directory frames of an archive.
  public static let directoryCount = 1 << 20
  /// A root frame: manifest, directory list and fixed fields.
  public static let rootFrameByteCount = 32 << 20
  /// Key of a manifest pair, in UTF-8 bytes.
  public static let manifestKeyByteCount = 256
  /// Value of a manifest pair, in UTF-8 bytes.
  public static let manifestValueByteCount = 65_536
  /// All keys and values of the opening and closing manifest together.
  public static let manifestByteCount = 1 << 20
}
