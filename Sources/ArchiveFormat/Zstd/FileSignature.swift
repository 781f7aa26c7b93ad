/// What a file seems to be, from its first bytes: for messages that say what to do.
public enum FileSignature: Sendable, Equatable, CaseIterable {
  case empty, zstd, plainTar, gzip, bzip2, xz, lzip, lzma, lz4, zip, sevenZip, rar, cpio, ar, compress, unknown

  /// Bytes that suffice for ``identify(_:)``.
  public static let byteCount = 512

  /// Identifies the first bytes of a file (fewer when the file is shorter).
  public static func identify(_ bytes: Span<UInt8>) -> FileSignature { .unknown }

  /// A sentence that says what the file is and what to do; nil for what is read here (zstd, plain tar).
  public var advice: String? { nil }
}
