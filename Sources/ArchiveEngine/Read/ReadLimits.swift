internal import ArchiveFormat

/// Bounds on what an archive may ask for. Everything is checked before it is used.
///
/// Whatever an archive announces or repeats, reading it takes less than twice ``memoryByteCount`` and 32 MiB, and 32 bytes for each member (<doc:Design>).
public struct ReadLimits: Sendable {
  /// Members; nil is no limit. Directories that are made because members lie in them may be as many again.
  public var maximumEntryCount: UInt64?
  /// Sum of the logical sizes of all files, in bytes; nil is no limit.
  public var maximumContentByteCount: UInt64?
  /// Content bytes for each byte of the archive; nil is no limit.
  public var maximumRatio: UInt64?
  /// Memory for decoding: windows and buffers, in bytes. Frames that need more are refused; fewer threads are used before that. Pages of an index may take half as
  /// much (4 MiB at least), and as much again while members of earlier ones are being made.
  public var memoryByteCount: Int = 128 << 20

  /// What one page of an index may take.
  var pageMemoryByteCount: Int { max(memoryByteCount / 2, 4 << 20) }

  /// No limits but the one on memory.
  public init() {}

  /// What an archive's members add up to is not bounded.
  var areOnMemoryOnly: Bool {
    maximumEntryCount == nil && maximumContentByteCount == nil && maximumRatio == nil
  }

  /// For archives from strangers: 10 million members, 1 TiB, a ratio of 1,000.
  public static var imports: ReadLimits {
    var limits = ReadLimits()
    limits.maximumEntryCount = 10_000_000
    limits.maximumContentByteCount = 1 << 40
    limits.maximumRatio = 1_000
    return limits
  }
}

/// Counts what a run has taken of its limits. One thread.
struct LimitAccount {
  let limits: ReadLimits
  private(set) var entryCount: UInt64 = 0
  private(set) var contentByteCount: UInt64 = 0
  private var implicitDirectoryCount: UInt64 = 0

  init(_ limits: ReadLimits) { self.limits = limits }

  /// Adds a member.
  ///
  /// - Parameter archiveByteCount: all bytes of the archive; nil when they are not known, and ``checkRatio(_:missing:archiveByteCount:)`` judges what comes.
  mutating func add(
    _ path: [UInt8], entryCount count: UInt64 = 1, contentByteCount byteCount: UInt64, archiveByteCount: UInt64?
  ) throws(ArchiveError) {
    entryCount += count
    contentByteCount.add(clamping: byteCount)
    if let maximum = limits.maximumEntryCount, entryCount > maximum {
      throw ArchiveError(.limitExceeded, "more than \(maximum) members; raise --max-entries to take them", path: path)
    }
    if let maximum = limits.maximumContentByteCount, contentByteCount > maximum {
      throw ArchiveError(
        .limitExceeded,
        "the members up to here hold \(contentByteCount) bytes, more than \(maximum); raise --max-size to take them",
        path: path)
    }
    if let archiveByteCount { try checkRatio(path, missing: 0, archiveByteCount: archiveByteCount) }
  }

  /// Counts a directory that is made because members lie in it. A name of a mebibyte asks for half a million of them, so the limit on members holds for these, too.
  mutating func addImplicitDirectory(_ path: [UInt8]) throws(ArchiveError) {
    implicitDirectoryCount += 1
    if let maximum = limits.maximumEntryCount, implicitDirectoryCount > maximum {
      throw ArchiveError(
        .limitExceeded, "more than \(maximum) directories that are no members; raise --max-entries to take them",
        path: path)
    }
  }

  /// Judges what has come out of the archive by now.
  ///
  /// - Parameters:
  ///   - missing: bytes of the last member that are still to come.
  ///   - archiveByteCount: bytes of the archive that this took, or all of them.
  func checkRatio(_ path: [UInt8], missing: UInt64, archiveByteCount: UInt64) throws(ArchiveError) {
    guard let maximum = limits.maximumRatio else { return }
    let produced = contentByteCount - min(missing, contentByteCount)
    // Small archives compress extremely well for good reasons (empty files): the ratio counts from 1 MiB on.
    let allowed = max(archiveByteCount, 1024).multipliedReportingOverflow(by: maximum)
    if produced > 1 << 20, !allowed.overflow, produced > allowed.partialValue {
      throw ArchiveError(
        .limitExceeded,
        "\(produced) bytes come out of \(archiveByteCount), more than \(maximum) times as many; raise --max-ratio to take them",
        path: path)
    }
  }
}
