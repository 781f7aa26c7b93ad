/// What archiving trees will give and take, as predicted by a ``SizeEstimator``.
public struct SizeEstimate: Sendable, Equatable {
  /// Members of all kinds.
  public var entryCount: UInt64 = 0
  /// Members that are files.
  public var fileCount: UInt64 = 0
  /// Sum of the files' logical sizes, each inode once. Exact.
  public var contentByteCount: UInt64 = 0
  /// The same without holes: what is read and stored. Exact.
  public var storedByteCount: UInt64 = 0
  /// Bytes of the tar stream; extended attributes and link targets beyond 100 bytes are not in it.
  public var tarByteCount: UInt64 = 0
  /// Predicted bytes of the archive.
  public var archiveByteCount: UInt64 = 0
  /// The archive will hardly be smaller than this.
  public var archiveByteCountLow: UInt64 = 0
  /// The archive will hardly be larger than this.
  public var archiveByteCountHigh: UInt64 = 0
  /// Predicted wall time of writing the archive, without waiting for the disk.
  public var seconds: Double = 0
  /// Bytes of the tar stream that were read and compressed for the prediction.
  public var sampledByteCount: UInt64 = 0
  /// Things that were found to be unreadable or of no kind that an archive holds.
  public var warningCount: UInt64 = 0

  /// Nothing.
  public init() {}
}
