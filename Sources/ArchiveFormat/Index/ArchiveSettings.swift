/// The settings that an archive was made with, for `info` and for whoever continues it.
public struct ArchiveSettings: Sendable, Equatable {
  /// Target size of a chunk: 4096...33,554,432 bytes.
  public var chunkByteCount: UInt32
  /// zstd level; 0 means that everything is stored.
  public var level: Int32
  /// `ZSTD_versionNumber()` of the library that compressed; the same bytes come from the same version only.
  public var zstdVersion: UInt32
  /// Version of the rule that says where chunks begin; 1 is that of ``ChunkPlanner``.
  public var cutVersion: UInt32

  /// The chunk sizes that are allowed.
  public static let chunkByteCounts: ClosedRange<UInt32> = 4096...(32 << 20)

  /// Settings of this version's rules.
  public init(chunkByteCount: UInt32, level: Int32, zstdVersion: UInt32, cutVersion: UInt32 = 1) {
    self.chunkByteCount = chunkByteCount
    self.level = level
    self.zstdVersion = zstdVersion
    self.cutVersion = cutVersion
  }

  func append(to out: inout [UInt8]) throws(FormatError) {
    try validate()
    out.append(varint: UInt64(chunkByteCount))
    out.append(varint: Int64(level).zigzag)
    out.append(varint: UInt64(zstdVersion))
    out.append(varint: UInt64(cutVersion))
  }

  init(_ bytes: Span<UInt8>, _ cursor: inout IndexCursor) throws(FormatError) {
    let limit = UInt64(UInt32.max)
    chunkByteCount = UInt32(try cursor.varint(bytes, upTo: limit, "chunk size"))
    level = Int32(truncatingIfNeeded: Int64(zigzag: try cursor.varint(bytes, upTo: limit, "level")))
    zstdVersion = UInt32(try cursor.varint(bytes, upTo: limit, "zstd version"))
    cutVersion = UInt32(try cursor.varint(bytes, upTo: limit, "cut version"))
    try validate()
  }

  private func validate() throws(FormatError) {
    guard Self.chunkByteCounts.contains(chunkByteCount) else {
      throw FormatError(.limitExceeded, "chunk size \(chunkByteCount), not in \(Self.chunkByteCounts)")
    }
  }
}
