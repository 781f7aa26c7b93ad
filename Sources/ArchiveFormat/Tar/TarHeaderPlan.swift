/// How the header of one member will be written: which name goes where, and how long the parts are.
struct TarHeaderPlan {
  /// Where a name that may be long is written.
  enum NameForm: Equatable {
    /// In its ustar field.
    case field
    /// Split at this "/" into the prefix and the name field.
    case split(at: Int)
    /// In a pax record.
    case pax
    /// In a GNU "L" or "K" record: names that are not UTF-8, which pax records must be.
    case gnu
  }

  var pathForm: NameForm
  var linkForm: NameForm
  /// True when the real name of a sparse file is in the pax record GNU.sparse.name.
  var usesSparseName = false
  /// Bytes of the sparse map without padding; 0 when there is none.
  var mapByteCount = 0
  /// Extents in the map with the empty one that marks a hole at the end.
  var mapExtentCount = 0
  /// Stored bytes that the header states: map and data.
  var size: UInt64
  /// Bytes of the pax records without padding; 0 when there are none.
  var paxByteCount = 0

  /// The member must have passed `TarHeaderEncoder.check`; for others the plan is harmless but means nothing.
  init(_ member: Member) {
    let isSparse = member.sparseExtents != nil
    size = member.storedByteCount
    linkForm = Self.form(member.linkTarget, mayAddSlash: false, maySplit: false)
    pathForm = .field
    if isSparse {
      planMap(member)
      size = size &+ UInt64(TarLimits.padded(mapByteCount))
      usesSparseName = TarBytes.isUTF8(member.path.span)
    }
    // Without GNU.sparse.name all readers take the plain name. A name that is not UTF-8 in a pax record
    // makes bsdtar complain, and hdrcharset=BINARY makes GNU tar complain.
    if !usesSparseName {
      pathForm = Self.form(member.path, mayAddSlash: member.kind == .directory, maySplit: true)
    }
    var counter = PaxByteCounter()
    emitRecords(of: member, to: &counter)
    paxByteCount = counter.byteCount
  }

  /// Bytes from the first header block to the stored data.
  var headerByteCount: Int {
    TarLimits.blockByteCount + TarLimits.padded(mapByteCount)
      + (paxByteCount > 0 ? TarLimits.blockByteCount + TarLimits.padded(paxByteCount) : 0)
  }

  /// Bytes of a GNU "L" or "K" record for a name of this length.
  static func longNameByteCount(_ nameByteCount: Int) -> Int {
    TarLimits.blockByteCount + TarLimits.padded(nameByteCount + 1)
  }

  private mutating func planMap(_ member: Member) {
    let extents = member.sparseExtents ?? []
    mapExtentCount = extents.count + (Self.needsEndExtent(member) ? 1 : 0)
    var count = TarBytes.decimalDigitCount(UInt64(mapExtentCount)) + 1
    for extent in extents {
      count += TarBytes.decimalDigitCount(extent.offset) + TarBytes.decimalDigitCount(extent.byteCount) + 2
    }
    if Self.needsEndExtent(member) { count += TarBytes.decimalDigitCount(member.byteCount) + 3 }
    mapByteCount = count
  }

  /// GNU tar ends the map of a file that ends in a hole with an empty extent at the end of the file.
  static func needsEndExtent(_ member: Member) -> Bool {
    guard let last = member.sparseExtents?.last else { return member.byteCount > 0 }
    return last.offset &+ last.byteCount < member.byteCount
  }

  private static func form(_ name: [UInt8], mayAddSlash: Bool, maySplit: Bool) -> NameForm {
    let count = name.count + (mayAddSlash ? 1 : 0)
    if count <= UstarBlock.Field.name.count { return .field }
    if maySplit, let index = splitIndex(name, count: count) { return .split(at: index) }
    return TarBytes.isUTF8(name.span) ? .pax : .gnu
  }

  /// The last "/" that leaves at most 155 bytes before it and 1...100 behind it.
  private static func splitIndex(_ name: [UInt8], count: Int) -> Int? {
    guard count <= UstarBlock.Field.prefix.count + 1 + UstarBlock.Field.name.count else { return nil }
    var index = min(UstarBlock.Field.prefix.count, name.count - 1)
    while index > 0, count - index - 1 <= UstarBlock.Field.name.count {
      if name[index] == 0x2F { return index }
      index -= 1
    }
    return nil
  }

  /// Emits the pax records of a member in their fixed order.
  func emitRecords<Sink: PaxRecordSink>(of member: Member, to sink: inout Sink) {
    if pathForm == .pax { sink.record("path", member.path, suffix: member.kind == .directory ? "/" : "") }
    if linkForm == .pax { sink.record("linkpath", member.linkTarget, suffix: "") }
    if size > UstarBlock.maximumSizeValue { sink.record("size", decimal: size) }
    if member.userID > UstarBlock.maximumIDValue { sink.record("uid", decimal: member.userID) }
    if member.groupID > UstarBlock.maximumIDValue { sink.record("gid", decimal: member.groupID) }
    // The fields hold 31 bytes and a NUL.
    if member.userName.count > 31 { sink.record("uname", member.userName, suffix: "") }
    if member.groupName.count > 31 { sink.record("gname", member.groupName, suffix: "") }
    let time = member.modificationTime
    if time.nanoseconds != 0 || time.seconds < 0 || time.seconds > Int64(UstarBlock.maximumSizeValue) {
      sink.record("mtime", time: time)
    }
    if member.sparseExtents != nil {
      sink.record("GNU.sparse.major", decimal: 1)
      sink.record("GNU.sparse.minor", decimal: 0)
      if usesSparseName { sink.record("GNU.sparse.name", member.path, suffix: "") }
      sink.record("GNU.sparse.realsize", decimal: member.byteCount)
    }
    if !member.accessACL.isEmpty { sink.record("SCHILY.acl.access", member.accessACL, suffix: "") }
    if !member.defaultACL.isEmpty { sink.record("SCHILY.acl.default", member.defaultACL, suffix: "") }
    for attribute in member.extendedAttributes { sink.record(attribute) }
  }
}
