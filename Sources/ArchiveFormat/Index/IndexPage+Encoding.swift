extension IndexPage {
  /// Bits of a member's tag byte above the three of its kind.
  enum Tag {
    static let kindMask: UInt8 = 0x07
    static let incomplete: UInt8 = 0x08
    static let sparse: UInt8 = 0x10
    static let attributes: UInt8 = 0x20
    static let known: UInt8 = 0x3F
  }

  /// The canonical decoded payload: one byte sequence for one value.
  ///
  /// - Throws: `malformed` for a page that breaks a rule of the specification, `limitExceeded`.
  public func encoded() throws(FormatError) -> [UInt8] {
    try validate()
    var out: [UInt8] = []
    out.reserveCapacity(64 + chunks.count * 16 + members.count * 64)
    out.append(isEnd ? 1 : 0)
    out.append(varint: openByteCount)
    appendChunks(to: &out)
    out.append(varint: UInt64(members.count))
    appendNames(to: &out)
    appendOwners(to: &out)
    appendTimesAndSizes(to: &out)
    appendDevices(to: &out)
    try appendAttributes(to: &out)
    appendExtents(to: &out)
    for chunk in chunks { out.append(littleEndian: chunk.storedHash) }
    let members = members.span
    for index in members.indices {
      guard let hash = members[index].contentHash else { continue }
      out.append(littleEndian: hash.high.byteSwapped)
      out.append(littleEndian: hash.low.byteSwapped)
    }
    guard out.count <= IndexLimits.pageByteCount else {
      throw FormatError(.limitExceeded, "page of \(out.count) bytes, more than \(IndexLimits.pageByteCount)")
    }
    return out
  }

  private func appendChunks(to out: inout [UInt8]) {
    out.append(varint: UInt64(chunks.count))
    for chunk in chunks { out.append(varint: UInt64(chunk.storedByteCount)) }
    for chunk in chunks { out.append(varint: UInt64(chunk.contentByteCount)) }
    var bits = [UInt8](repeating: 0, count: (chunks.count + 7) / 8)
    for (index, chunk) in chunks.enumerated() where chunk.isStored { bits[index / 8] |= 1 << UInt8(index % 8) }
    out.append(contentsOf: bits)
  }

  private func appendNames(to out: inout [UInt8]) {
    let members = members.span
    var names = FrontCoding.Encoder()
    for index in members.indices {
      out.append(members[index].tag)
      names.add(members[index].member.path)
    }
    names.append(to: &out)
    for index in members.indices { out.append(varint: UInt64(members[index].member.mode)) }
    var targets = FrontCoding.Encoder()
    for index in members.indices where members[index].member.kind.isLink {
      targets.add(members[index].member.linkTarget)
    }
    targets.append(to: &out)
  }

  private func appendOwners(to out: inout [UInt8]) {
    let members = members.span
    var table = EntryTable()
    for index in members.indices {
      if index > 0, members[index].member.hasOwner(of: members[index - 1].member) {
        table.repeatLast()
        continue
      }
      var entry: [UInt8] = []
      entry.append(varint: members[index].member.userID)
      entry.append(varint: members[index].member.groupID)
      entry.append(string: members[index].member.userName)
      entry.append(string: members[index].member.groupName)
      table.add(entry)
    }
    table.append(to: &out)
  }

  private func appendTimesAndSizes(to out: inout [UInt8]) {
    let members = members.span
    var previous: Int64 = 0
    for index in members.indices {
      let seconds = members[index].member.modificationTime.seconds
      out.append(varint: (seconds &- previous).zigzag)
      previous = seconds
    }
    for index in members.indices { out.append(varint: UInt64(members[index].member.modificationTime.nanoseconds)) }
    for index in members.indices { out.append(varint: members[index].headerByteCount / 512 - 1) }
    for index in members.indices where members[index].member.kind == .file {
      out.append(varint: members[index].member.byteCount)
    }
  }

  private func appendDevices(to out: inout [UInt8]) {
    let members = members.span
    for index in members.indices where members[index].member.kind.isDevice {
      out.append(varint: UInt64(members[index].member.deviceMajor))
      out.append(varint: UInt64(members[index].member.deviceMinor))
    }
  }

  private func appendAttributes(to out: inout [UInt8]) throws(FormatError) {
    let members = members.span
    var table = EntryTable()
    var budget = IndexLimits.pageAttributeCount
    for index in members.indices where members[index].member.hasAttributes {
      var entry: [UInt8] = []
      entry.append(varint: UInt64(members[index].member.extendedAttributes.count))
      for attribute in members[index].member.extendedAttributes {
        entry.append(string: attribute.name)
        entry.append(string: attribute.value)
      }
      entry.append(string: members[index].member.accessACL)
      entry.append(string: members[index].member.defaultACL)
      if table.add(entry) { budget -= members[index].member.extendedAttributes.count }
      guard budget >= 0 else {
        throw FormatError(.limitExceeded, "attributes of a page: more than \(IndexLimits.pageAttributeCount)")
      }
    }
    table.append(to: &out)
  }

  private func appendExtents(to out: inout [UInt8]) {
    for member in members where member.member.sparseExtents != nil {
      out.append(varint: UInt64(member.member.sparseExtents?.count ?? 0))
    }
    for member in members {
      guard let extents = member.member.sparseExtents else { continue }
      var position: UInt64 = 0
      for extent in extents {
        out.append(varint: extent.offset - position)
        out.append(varint: extent.byteCount - 1)
        position = extent.offset + extent.byteCount
      }
    }
  }
}

/// Distinct entries in the order of their first use, and a column of their indices.
private struct EntryTable {
  private var indices: [[UInt8]: UInt64] = [:]
  private var entries: [UInt8] = []
  private var column: [UInt8] = []
  private var last: UInt64 = 0

  /// Returns whether the entry is new.
  @discardableResult
  mutating func add(_ entry: [UInt8]) -> Bool {
    let count = indices.count
    if let index = indices[entry] {
      last = index
    } else {
      last = UInt64(indices.count)
      indices[entry] = last
      entries.append(contentsOf: entry)
    }
    column.append(varint: last)
    return indices.count > count
  }

  /// Adds the entry of the call before.
  mutating func repeatLast() { column.append(varint: last) }

  func append(to out: inout [UInt8]) {
    out.append(varint: UInt64(indices.count))
    out.append(contentsOf: entries)
    out.append(contentsOf: column)
  }
}

extension MemberKind {
  /// The member has a target.
  var isLink: Bool { self == .symlink || self == .hardlink }
  /// The member has a device number.
  var isDevice: Bool { self == .characterDevice || self == .blockDevice }
}

extension Member {
  /// The member has an entry in the attribute table.
  var hasAttributes: Bool {
    hasRareMetadata && (!extendedAttributes.isEmpty || !accessACL.isEmpty || !defaultACL.isEmpty)
  }

  func hasOwner(of other: Member) -> Bool {
    userID == other.userID && groupID == other.groupID && ownerNames == other.ownerNames
  }
}

extension IndexedMember {
  /// The member's byte in the tag column.
  fileprivate var tag: UInt8 {
    var tag = member.kind.rawValue
    if isIncomplete { tag |= IndexPage.Tag.incomplete }
    if member.sparseExtents != nil { tag |= IndexPage.Tag.sparse }
    if member.hasAttributes { tag |= IndexPage.Tag.attributes }
    return tag
  }
}
