public import ArchiveFormat

/// A member as an archive lists it.
public struct ListedMember: Sendable {
  /// All metadata.
  public var member: Member
  /// XXH3-128 of the content, where an index states it; for a sparse file of its extent map and stored data.
  public var contentHash: Hash128?
  /// The source became shorter or unreadable while it was archived: the rest is zeros.
  public var isIncomplete: Bool
  /// Number of chunks that hold the member; nil without an index.
  public var chunkCount: UInt64?
}

/// What is known of an archive without reading its content.
public struct ArchiveInfo: Sendable {
  /// Version of the index format; nil for an archive without our index.
  public var formatVersion: Int?
  /// Members of all kinds.
  public var entryCount: UInt64 = 0
  /// Members that are files.
  public var fileCount: UInt64 = 0
  /// Sum of the files' logical sizes, in bytes.
  public var contentByteCount: UInt64 = 0
  /// Bytes of the tar stream.
  public var tarByteCount: UInt64 = 0
  /// Bytes of the archive.
  public var archiveByteCount: UInt64 = 0
  /// Chunks, which are zstd frames with content.
  public var chunkCount: UInt64 = 0
  /// Settings of the writer; nil without index.
  public var chunkByteCount: UInt64?
  /// Compression level of the writer; 0 is stored. nil without an index.
  public var level: Int?
  /// The archive has an index of ours.
  public var isIndexed = false
  /// The archive digest; nil without index.
  public var digest: String?
  /// Opening and closing pairs.
  public var manifest: [(key: String, value: String)] = []
}

/// A damaged chunk, or damage outside of chunks.
public struct ArchiveDamage: Sendable, CustomStringConvertible {
  /// Number of the chunk; nil for damage of the index or of an archive without one.
  public var chunk: UInt64?
  /// File offset.
  public var offset: UInt64?
  /// What is wrong, in one sentence.
  public var message: String
  /// Members that the damage touches, as far as known.
  public var members: [[UInt8]]
  /// More members that it touches: a report holds the names of 100,000 in all, of at most 16 MiB.
  public var unlistedMemberCount: UInt64 = 0

  /// One line: "chunk N at offset M: MESSAGE".
  public var description: String {
    var text = chunk.map { "chunk \($0)" } ?? "archive"
    if let offset { text += " at offset \(offset)" }
    return text + ": " + message
  }
}

/// The result of a verification.
public struct VerifyReport: Sendable {
  /// Chunks, which are zstd frames with content.
  public var chunkCount: UInt64 = 0
  /// What is damaged, the first 1,000.
  public var damages: [ArchiveDamage] = []
  /// All damaged chunks; ``damages`` keeps the first 1,000.
  public var damagedChunkCount: UInt64 = 0
  /// Members of all kinds.
  public var entryCount: UInt64 = 0
  /// Sum of the files' logical sizes, in bytes.
  public var contentByteCount: UInt64 = 0
  /// The archive digest; nil without an index.
  public var digest: String?
  /// Oddities that do not make the archive bad: missing end blocks, data after the end.
  public var warningCount: UInt64 = 0

  /// Nothing is damaged.
  public var isHealthy: Bool { damages.isEmpty }
}

/// One difference between an archive and a directory.
public struct TreeDifference: Sendable, CustomStringConvertible {
  /// The path, as raw bytes.
  public var path: [UInt8]
  /// "only in archive", "only in directory", or what differs with both values.
  public var message: String

  /// "PATH: MESSAGE".
  public var description: String { PathText.printable(path) + ": " + message }
}
