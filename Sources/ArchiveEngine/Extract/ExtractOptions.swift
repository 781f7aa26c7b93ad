/// How an archive is extracted.
public struct ExtractOptions: Sendable {
  /// What happens to files that are there already.
  public enum Overwrite: Sendable {
    /// An error.
    case fail
    /// They stay; the member is left out.
    case keep
    /// The member takes the name; the old file is not written to.
    case replace
  }

  /// A choice that depends on the user unless it is made: GNU tar's habit.
  public enum Choice: Sendable {
    /// Yes for root, no for others.
    case automatic
    case yes
    case no
  }

  /// What happens to files that are there already.
  public var overwrite: Overwrite = .fail
  /// Rejected members are left out and counted instead of ending the run.
  public var isLenient = false
  /// Lanes; 0 takes the cores that this process may use.
  public var threadCount: Int = 0
  /// Restores owner and group.
  public var restoresOwner: Choice = .automatic
  /// Restores modes exactly instead of applying the umask.
  public var restoresPermissions: Choice = .automatic
  /// Takes the numbers of owner and group, not their names.
  public var usesNumericOwners = false
  /// Restores extended attributes and ACLs.
  public var restoresExtendedAttributes = true
  /// Makes device nodes.
  public var createsDevices = false
  /// Drops so many leading components from every path.
  public var stripComponentCount = 0
  /// Brings everything to the disk before the run ends.
  public var syncs = true
  /// Paths or directory prefixes of the members wanted, as raw bytes; empty is all.
  public var selection: [[UInt8]] = []
  /// Bounds on what the archive may ask for; those of the reader take their place in ``ArchiveReader``.
  public var limits = ReadLimits()
  /// Measures the run, when there is one.
  public var profile: RunProfile?

  /// The defaults.
  public init() {}
}

/// What an extraction did.
public struct ExtractSummary: Sendable {
  /// Members that were made, directories included.
  public var entryCount: UInt64 = 0
  /// Members that are files.
  public var fileCount: UInt64 = 0
  /// Sum of the logical sizes of the files made.
  public var contentByteCount: UInt64 = 0
  /// Members that were left out: rejected, incomplete, of a kind that was not wanted.
  public var skippedCount: UInt64 = 0
  /// Everything that makes the run less than clean, ``skippedCount`` included.
  public var warningCount: UInt64 = 0
  /// Key-value text of the archive, front and end; empty for archives without an index.
  public var manifest: [(key: String, value: String)] = []
}

/// What a reading run reports while it works.
public enum ReaderEvent: Sendable {
  /// While extracting: what the archive's front says for whoever embeds the engine, before its first member is made known.
  case manifest([(key: String, value: String)])
  case progress(ArchiveProgress)
  case warning(ArchiveWarning)
}

/// Which members a run is about.
struct MemberSelection: Sendable {
  private let prefixes: [[UInt8]]

  init(_ paths: [[UInt8]]) {
    prefixes = paths.map { path in
      var path = path[...]
      while path.first == UInt8(ascii: "/") { path.removeFirst() }
      while path.starts(with: [UInt8(ascii: "."), UInt8(ascii: "/")]) { path.removeFirst(2) }
      while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
      return Array(path)
    }
  }

  var isEverything: Bool { prefixes.isEmpty }

  /// Index of the selection that takes in the path.
  func match(_ path: [UInt8]) -> Int? {
    prefixes.firstIndex { prefix in
      prefix == [UInt8(ascii: ".")]
        || (path.starts(with: prefix) && (path.count == prefix.count || path[prefix.count] == UInt8(ascii: "/")))
    }
  }

  func contains(_ path: [UInt8]) -> Bool { isEverything || match(path) != nil }

  /// The paths that were never matched, given which were.
  func unmatched(_ matched: Set<Int>) -> [[UInt8]] {
    prefixes.indices.filter { !matched.contains($0) }.map { prefixes[$0] }
  }
}
