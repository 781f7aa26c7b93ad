/// One chunk: a data frame of the archive. Its place follows from the sizes of the chunks before it.
public struct ChunkRecord: Sendable, Equatable {
  /// Bytes of the zstd frame in the archive: 1...``IndexLimits/chunkStoredByteCount``.
  public var storedByteCount: UInt32
  /// Bytes of tar stream in it: 1...``IndexLimits/chunkContentByteCount``.
  public var contentByteCount: UInt32
  /// XXH3-64 of the frame's stored bytes.
  public var storedHash: UInt64
  /// The frame consists of raw blocks only.
  public var isStored: Bool

  /// A record of a frame that has been made or read.
  public init(storedByteCount: UInt32, contentByteCount: UInt32, storedHash: UInt64, isStored: Bool) {
    self.storedByteCount = storedByteCount
    self.contentByteCount = contentByteCount
    self.storedHash = storedHash
    self.isStored = isStored
  }
}

/// A member with what the index adds to its metadata.
public struct IndexedMember: Sendable, Equatable {
  /// All metadata, equal to those of the tar headers.
  public var member: Member
  /// Bytes of the tar stream from the member's first header block to its stored data: a positive multiple of 512.
  public var headerByteCount: UInt64
  /// Files only (each has one): XXH3-128 of the content; for a sparse file of ``sparseHashPrefix(extents:byteCount:)``
  /// followed by the stored data.
  public var contentHash: Hash128?
  /// The source shrank or became unreadable while it was read: the rest is zeros.
  public var isIncomplete: Bool

  /// A member record; ``IndexPage/encoded()`` checks it.
  public init(member: Member, headerByteCount: UInt64, contentHash: Hash128? = nil, isIncomplete: Bool = false) {
    self.member = member
    self.headerByteCount = headerByteCount
    self.contentHash = contentHash
    self.isIncomplete = isIncomplete
  }

  /// Bytes of stored data, without padding: 0 for everything but files.
  public var dataByteCount: UInt64 { member.kind == .file ? member.storedByteCount : 0 }

  /// Bytes of stored data with the zeros that fill the last block of 512.
  public var paddedDataByteCount: UInt64 { (dataByteCount &+ 511) & ~511 }

  /// Bytes of the tar stream from the member's header to the next member's.
  public var tarByteCount: UInt64 { headerByteCount &+ paddedDataByteCount }

  /// What is hashed before the stored data of a sparse file: for each extent its offset and its length, then the
  /// logical size, each as 64 bits, little-endian. So a hole of a terabyte costs nothing.
  public static func sparseHashPrefix(extents: [SparseExtent], byteCount: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(extents.count * 16 + 8)
    for extent in extents {
      bytes.append(littleEndian: extent.offset)
      bytes.append(littleEndian: extent.byteCount)
    }
    bytes.append(littleEndian: byteCount)
    return bytes
  }
}
