package import ArchiveFormat
internal import ArchiveIO

/// How an archive is written. The archive's bytes depend on everything here except ``threadCount``, ``verifiesWrites`` and ``profile``.
public struct WriterOptions: Sendable {
  /// zstd level 1...19; 0 stores without compressing.
  public var level: Int = 3
  /// Bytes of tar stream in a chunk, 64 KiB...32 MiB. The default is a compromise between ratio, parallelism and the cost of reading one member.
  public var chunkByteCount: Int = 4 << 20
  /// Compressing threads; 0 takes the cores that this process may use.
  public var threadCount: Int = 0
  /// Decodes every frame again and compares hashes before it is written.
  public var verifiesWrites = false
  /// Keeps extended attributes and ACLs.
  public var includesExtendedAttributes = true
  /// Leaves owner names out.
  public var usesNumericOwners = false
  /// Does not descend into other file systems.
  public var staysOnFileSystem = false
  /// Key-value text that is stored at the front of the archive and in its root, in this order.
  public var manifest: [(key: String, value: String)] = []
  /// Measures the run, when there is one.
  public var profile: RunProfile?

  /// Judges what an item holds beside files and directories, before it is taken; nil takes everything.
  package var itemRule: (@Sendable (Member) -> ItemVerdict)?

  /// Does everything on the calling thread, without queues: the reference that the pipeline is tested against.
  package var isSerial = false

  /// The defaults.
  public init() {}

  /// Limits of ``chunkByteCount``: smaller chunks cost more than they give; larger ones would need a window over 8 MiB and more memory.
  public static let chunkByteCountRange = (64 << 10)...(32 << 20)

  /// Threads that compress.
  var laneCount: Int { threadCount > 0 ? threadCount : ProcessFacts.availableCores }

  func validate() throws(ArchiveError) {
    guard (0...19).contains(level) else { throw ArchiveError(.invalidArgument, "level \(level) is not in 0...19") }
    guard Self.chunkByteCountRange.contains(chunkByteCount) else {
      throw ArchiveError(.invalidArgument, "chunk size \(chunkByteCount) is not between 64 KiB and 32 MiB")
    }
    guard (0...256).contains(threadCount) else {
      throw ArchiveError(.invalidArgument, "\(threadCount) threads: 1...256 are possible")
    }
  }
}

/// What becomes of a member of an item.
package enum ItemVerdict: Sendable {
  case take
  /// It is left out, with a warning; the item is whole without it.
  case leaveOut(String)
  /// The item is not taken.
  case refuse(String)
}

/// Something that was skipped or degraded while the run went on; the exit status of a tool is then 1.
public struct ArchiveWarning: Sendable, CustomStringConvertible {
  /// The file or member, as raw bytes.
  public var path: [UInt8]
  /// What happened to it.
  public var message: String
  /// False for notes that do not make the run degraded (a skipped output file).
  public var isDegradation: Bool

  /// Makes a warning.
  public init(path: [UInt8], message: String, isDegradation: Bool = true) {
    self.path = path
    self.message = message
    self.isDegradation = isDegradation
  }

  /// "PATH: MESSAGE".
  public var description: String { path.isEmpty ? message : PathText.printable(path) + ": " + message }
}

/// How far a run has come. Content bytes are what progress is measured in.
public struct ArchiveProgress: Sendable {
  /// Sum of the files' logical sizes, in bytes.
  public var contentByteCount: UInt64 = 0
  /// Members of all kinds.
  public var memberCount: UInt64 = 0
  /// Bytes of the archive.
  public var archiveByteCount: UInt64 = 0

  /// A state; nothing done yet by default.
  public init(contentByteCount: UInt64 = 0, memberCount: UInt64 = 0, archiveByteCount: UInt64 = 0) {
    self.contentByteCount = contentByteCount
    self.memberCount = memberCount
    self.archiveByteCount = archiveByteCount
  }
}

/// What a finished archive consists of.
public struct WriteSummary: Sendable {
  /// Members of all kinds.
  public var entryCount: UInt64 = 0
  /// Members that are files.
  public var fileCount: UInt64 = 0
  /// Sum of the files' logical sizes; a hard link counts once.
  public var contentByteCount: UInt64 = 0
  /// Bytes of the tar stream.
  public var tarByteCount: UInt64 = 0
  /// Bytes of the archive.
  public var archiveByteCount: UInt64 = 0
  /// Bytes of pages, directory, root, preamble and seek table.
  public var indexByteCount: UInt64 = 0
  /// Chunks, which are zstd frames with content.
  public var chunkCount: UInt64 = 0
  /// Chunks that are stored without compression.
  public var storedChunkCount: UInt64 = 0
  /// The archive digest: 32 hexadecimal digits.
  public var digest: String = ""
  /// Things that were skipped or degraded.
  public var warningCount: UInt64 = 0
}
