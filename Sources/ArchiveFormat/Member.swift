/// What a member is. The raw values are those of the index (see the format specification, "Member kinds").
public enum MemberKind: UInt8, Sendable, CaseIterable {
  case file = 0
  case directory = 1
  case symlink = 2
  case hardlink = 3
  case fifo = 4
  case characterDevice = 5
  case blockDevice = 6
}

/// A point in time: seconds since 1970-01-01 (negative before it) and 0...999,999,999 nanoseconds after that second.
public struct Timestamp: Sendable, Equatable, Hashable {
  /// Seconds since 1970-01-01, negative before it.
  public var seconds: Int64
  /// 0...999,999,999, counted forward from the second.
  public var nanoseconds: UInt32

  /// Makes a value from its parts.
  public init(seconds: Int64, nanoseconds: UInt32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

/// One extended attribute: raw name without pax escapes ("user.comment") and raw value.
public struct ExtendedAttribute: Sendable, Equatable {
  /// The raw name, such as "user.comment".
  public var name: [UInt8]
  /// The raw value.
  public var value: [UInt8]

  /// Makes a value from its parts.
  public init(name: [UInt8], value: [UInt8]) {
    self.name = name
    self.value = value
  }
}

/// A region of a sparse file that holds data; everything outside the extents reads as zeros.
public struct SparseExtent: Sendable, Equatable {
  /// Where the region begins, in bytes.
  public var offset: UInt64
  /// Its length in bytes.
  public var byteCount: UInt64

  /// Makes a value from its parts.
  public init(offset: UInt64, byteCount: UInt64) {
    self.offset = offset
    self.byteCount = byteCount
  }
}

/// All metadata of one member, as a tar header or an index record carries it. Names are bytes, never text.
public struct Member: Sendable, Equatable {
  /// The archive path: no leading "/", no trailing "/" (the kind tells a directory); "." is the root itself.
  public var path: [UInt8]
  /// What the member is.
  public var kind: MemberKind
  /// Permission bits with set-id and sticky: 0...0o7777.
  public var mode: UInt32
  /// Number of the owning user.
  public var userID: UInt64
  /// Number of the owning group.
  public var groupID: UInt64
  /// Owner names as archived; empty when unknown.
  public var userName: [UInt8]
  /// Name of the owning group; empty when unknown.
  public var groupName: [UInt8]
  /// When the content was changed last.
  public var modificationTime: Timestamp
  /// Logical size of a file in bytes (with holes); 0 for every other kind.
  public var byteCount: UInt64
  /// Target of a symlink (verbatim) or archive path of a hard link's partner; else empty.
  public var linkTarget: [UInt8]
  /// Major number of a device node; else 0.
  public var deviceMajor: UInt32
  /// Minor number of a device node; else 0.
  public var deviceMinor: UInt32
  /// Sorted by name, without the POSIX ACL attributes, which are in ``accessACL`` and ``defaultACL``.
  public var extendedAttributes: [ExtendedAttribute]
  /// POSIX ACLs in the text form of `SCHILY.acl.*` records; empty when there is none.
  public var accessACL: [UInt8]
  /// The default ACL of a directory, in the same form.
  public var defaultACL: [UInt8]
  /// The data regions of a sparse file, ascending and disjoint; nil for an ordinary file.
  public var sparseExtents: [SparseExtent]?

  /// Makes a value from its parts.
  public init(path: [UInt8], kind: MemberKind, mode: UInt32 = 0o644, modificationTime: Timestamp = .init(seconds: 0)) {
    self.path = path
    self.kind = kind
    self.mode = mode
    self.userID = 0
    self.groupID = 0
    self.userName = []
    self.groupName = []
    self.modificationTime = modificationTime
    self.byteCount = 0
    self.linkTarget = []
    self.deviceMajor = 0
    self.deviceMinor = 0
    self.extendedAttributes = []
    self.accessACL = []
    self.defaultACL = []
    self.sparseExtents = nil
  }

  /// Bytes of file content stored in the tar stream: the size, or for a sparse file the sum of its extents.
  public var storedByteCount: UInt64 {
    guard let sparseExtents else { return byteCount }
    return sparseExtents.reduce(0) { $0 &+ $1.byteCount }
  }
}
