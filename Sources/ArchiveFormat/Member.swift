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
///
/// A member is copied many times on its way through an archive, and each reference in it costs each copy: what few members have, and what
/// many share, stands aside.
public struct Member: Sendable {
  /// The archive path: no leading "/", no trailing "/" (the kind tells a directory); "." is the root itself.
  public var path: [UInt8]
  /// Number of the owning user.
  public var userID: UInt64
  /// Number of the owning group.
  public var groupID: UInt64
  /// When the content was changed last.
  public var modificationTime: Timestamp
  /// Permission bits with set-id and sticky: 0...0o7777.
  public var mode: UInt32
  /// Logical size of a file in bytes (with holes); 0 for every other kind.
  public var byteCount: UInt64
  /// What the member is.
  public var kind: MemberKind
  /// Both names of the owner. Who gives several members one value gives them one piece of memory.
  package var ownerNames = SharedValue<MemberOwnerNames>()
  private var rare = SharedValue<RareMetadata>()

  /// Makes a value from its parts.
  public init(path: [UInt8], kind: MemberKind, mode: UInt32 = 0o644, modificationTime: Timestamp = .init(seconds: 0)) {
    self.path = path
    self.kind = kind
    self.mode = mode
    self.userID = 0
    self.groupID = 0
    self.modificationTime = modificationTime
    self.byteCount = 0
  }

  /// Bytes of file content stored in the tar stream: the size, or for a sparse file the sum of its extents.
  public var storedByteCount: UInt64 {
    guard rare.isSet, let sparseExtents else { return byteCount }
    return sparseExtents.reduce(0) { $0 &+ $1.byteCount }
  }
}

extension Member {
  /// The owner's name as archived; empty when unknown.
  public var userName: [UInt8] {
    get { ownerNames.value.user }
    _modify { yield &ownerNames.value.user }
  }

  /// Name of the owning group; empty when unknown.
  public var groupName: [UInt8] {
    get { ownerNames.value.group }
    _modify { yield &ownerNames.value.group }
  }

  /// Target of a symlink (verbatim) or archive path of a hard link's partner; else empty.
  public var linkTarget: [UInt8] {
    get { rare.value.linkTarget }
    _modify { yield &rare.value.linkTarget }
  }

  /// Major number of a device node; else 0.
  public var deviceMajor: UInt32 {
    get { rare.value.deviceMajor }
    _modify { yield &rare.value.deviceMajor }
  }

  /// Minor number of a device node; else 0.
  public var deviceMinor: UInt32 {
    get { rare.value.deviceMinor }
    _modify { yield &rare.value.deviceMinor }
  }

  /// Sorted by name, without the POSIX ACL attributes, which are in ``accessACL`` and ``defaultACL``.
  public var extendedAttributes: [ExtendedAttribute] {
    get { rare.value.extendedAttributes }
    _modify { yield &rare.value.extendedAttributes }
  }

  /// POSIX ACLs in the text form of `SCHILY.acl.*` records; empty when there is none.
  public var accessACL: [UInt8] {
    get { rare.value.accessACL }
    _modify { yield &rare.value.accessACL }
  }

  /// The default ACL of a directory, in the same form.
  public var defaultACL: [UInt8] {
    get { rare.value.defaultACL }
    _modify { yield &rare.value.defaultACL }
  }

  /// The data regions of a sparse file, ascending and disjoint; nil for an ordinary file.
  public var sparseExtents: [SparseExtent]? {
    get { rare.value.sparseExtents }
    _modify { yield &rare.value.sparseExtents }
  }

  /// The member has something that few have: a link target, a device number, attributes, holes.
  package var hasRareMetadata: Bool { rare.isSet }

  /// Bytes that such a member takes more.
  package static var rareByteCount: Int { SharedValue<RareMetadata>.byteCount }
}

extension Member: Equatable {
  /// All fields are the same, whether they were set or not.
  public static func == (left: Member, right: Member) -> Bool {
    left.kind == right.kind && left.mode == right.mode && left.byteCount == right.byteCount
      && left.modificationTime == right.modificationTime && left.userID == right.userID
      && left.groupID == right.groupID && left.path == right.path && left.ownerNames == right.ownerNames
      && left.rare == right.rare
  }
}

/// Names of an owner, empty when unknown.
package struct MemberOwnerNames: Sendable, Equatable, DefaultInitializable {
  package var user: [UInt8] = []
  package var group: [UInt8] = []

  package init() {}

  package init(user: [UInt8], group: [UInt8]) {
    self.user = user
    self.group = group
  }
}

/// What few members have.
private struct RareMetadata: Sendable, Equatable, DefaultInitializable {
  var linkTarget: [UInt8] = []
  var extendedAttributes: [ExtendedAttribute] = []
  var accessACL: [UInt8] = []
  var defaultACL: [UInt8] = []
  var sparseExtents: [SparseExtent]?
  var deviceMajor: UInt32 = 0
  var deviceMinor: UInt32 = 0
}
