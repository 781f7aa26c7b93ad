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
}
