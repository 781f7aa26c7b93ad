/// What a tar stream may ask for. Every announced length is compared with one of these before memory is taken.
public enum TarLimits {
  /// Bytes of a tar block: every header is one, and all data are padded to it.
  public static let blockByteCount = 512
  /// Largest body of one pax header ("x" or "g") in bytes.
  public static let maximumPaxByteCount = 1 << 20
  /// Largest body of a GNU long name or long link ("L" or "K") in bytes, with its NUL.
  public static let maximumLongNameByteCount = 1 << 20
  /// Most extents in the map of a sparse file, empty ones included.
  public static let maximumSparseExtentCount = 1_000_000
  /// Largest size of a file in bytes, stored or logical. Leaves room to round up and to add without overflow.
  public static let maximumByteCount: UInt64 = 1 << 60

  /// Most sentences about what is odd in one member.
  public static let maximumNoteCount = 16

  /// The byte count with the padding to whole blocks. For byte counts up to ``maximumByteCount``.
  static func padded(_ byteCount: UInt64) -> UInt64 { (byteCount &+ 511) & ~511 }

  /// The byte count with the padding to whole blocks, for lengths in memory.
  static func padded(_ byteCount: Int) -> Int { (byteCount &+ 511) & ~511 }
}

/// The end of a tar stream.
public enum TarTrailer {
  /// Bytes of the two zero blocks that end a tar stream (POSIX.1 pax, "ustar Interchange Format").
  public static let byteCount = 1024
}
