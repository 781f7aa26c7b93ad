/// What the records of a pax header say about the member that follows. Unknown keywords are ignored.
struct PaxAttributes: Sendable {
  var path: [UInt8]?
  var linkPath: [UInt8]?
  var size: UInt64?
  /// True when there is a size record that is no number.
  var hasUnusableSize = false
  var userID: UInt64?
  var groupID: UInt64?
  var userName: [UInt8]?
  var groupName: [UInt8]?
  var modificationTime: Timestamp?
  var deviceMajor: UInt64?
  var deviceMinor: UInt64?
  /// True when a device number is no number.
  var hasUnusableDevice = false
  var accessACL: [UInt8]?
  var defaultACL: [UInt8]?
  /// In the order of the records; a name may come twice.
  var schilyAttributes: [ExtendedAttribute] = []
  /// Attributes in libarchive's own encoding, which it writes beside the others.
  var libarchiveAttributes: [ExtendedAttribute] = []
  var sparse: PaxSparse?
  var notes = TarNotes()

  /// Reads all records of a pax header.
  ///
  /// Behind a value that is wrong the reading goes on: a size that comes later still says where the next header is.
  ///
  /// - Returns: the first fault; what the other records say is kept.
  mutating func parse(_ records: Span<UInt8>) -> FormatError? {
    var fault: FormatError?
    do throws(FormatError) {
      var start = 0
      while start < records.count { start = try parseRecord(records, from: start, &fault) }
    } catch {
      return fault ?? error
    }
    return fault
  }

  /// Takes one record and returns where the next begins.
  private mutating func parseRecord(
    _ records: Span<UInt8>, from start: Int, _ fault: inout FormatError?
  ) throws(FormatError) -> Int {
    var index = start
    var count = 0
    while index < records.count, (0x30...0x39).contains(records[index]) {
      count = count * 10 + Int(records[index] - 0x30)
      // Bounds the arithmetic too.
      guard count <= records.count - start else {
        throw FormatError(
          .malformed, "a pax record claims at least \(count) bytes, \(records.count - start) are left")
      }
      index += 1
    }
    guard index > start, index < records.count, records[index] == 0x20 else {
      throw FormatError(.malformed, "a pax record does not begin with its length and a blank")
    }
    let end = start + count
    guard end > index + 1, records[end - 1] == 0x0A else {
      throw FormatError(.malformed, "a pax record of \(count) bytes does not end with a newline")
    }
    let body = records.extracting((index + 1)..<(end - 1))
    guard let equals = TarBytes.firstIndex(of: 0x3D, in: body), equals > 0 else {
      throw FormatError(.malformed, "a pax record has no keyword")
    }
    do throws(FormatError) {
      try take(body.extracting(0..<equals), body.extracting((equals + 1)..<body.count))
    } catch { fault = fault ?? error }
    return end
  }

  private mutating func take(_ keyword: Span<UInt8>, _ value: Span<UInt8>) throws(FormatError) {
    switch keyword[0] {
    case 0x53 where TarBytes.hasPrefix(keyword, "SCHILY."): try takeSchily(keyword, value)
    case 0x47 where TarBytes.hasPrefix(keyword, "GNU.sparse."):
      var sparse = self.sparse ?? PaxSparse()
      self.sparse = nil
      defer { self.sparse = sparse }
      try sparse.take(keyword, value)
    case 0x4C where TarBytes.hasPrefix(keyword, "LIBARCHIVE.xattr."): takeLibarchive(keyword, value)
    case 0x53 where TarBytes.equals(keyword, "SUN.holesdata"):
      // Its data without the holes would be wrong contents.
      throw FormatError(.unsupported, "a sparse file in the form of Solaris tar")
    default: try takeStandard(keyword, value)
    }
  }

  private mutating func takeStandard(_ keyword: Span<UInt8>, _ value: Span<UInt8>) throws(FormatError) {
    if TarBytes.equals(keyword, "mtime") {
      try takeTime(value)
    } else if TarBytes.equals(keyword, "path") {
      path = try Self.name(value, "path")
    } else if TarBytes.equals(keyword, "linkpath") {
      linkPath = try Self.name(value, "linkpath")
    } else if TarBytes.equals(keyword, "size") {
      hasUnusableSize = true
      size = try Self.number(value, "size")
      hasUnusableSize = false
    } else if TarBytes.equals(keyword, "uid") {
      userID = value.count == 0 ? nil : try Self.number(value, "uid")
    } else if TarBytes.equals(keyword, "gid") {
      groupID = value.count == 0 ? nil : try Self.number(value, "gid")
    } else if TarBytes.equals(keyword, "uname") {
      userName = try Self.text(value, "uname")
    } else if TarBytes.equals(keyword, "gname") {
      groupName = try Self.text(value, "gname")
    }
  }

  private mutating func takeTime(_ value: Span<UInt8>) throws(FormatError) {
    guard value.count > 0 else {
      modificationTime = nil
      return
    }
    guard let (time, isClamped) = TarTimestamp.parse(value) else {
      throw FormatError(.malformed, "the pax record mtime is no time")
    }
    modificationTime = time
    if isClamped { notes.append("the modification time is out of range and was clamped") }
  }

  private mutating func takeSchily(_ keyword: Span<UInt8>, _ value: Span<UInt8>) throws(FormatError) {
    if TarBytes.hasPrefix(keyword, PaxRecord.attributePrefix) {
      let start = PaxRecord.attributePrefix.utf8CodeUnitCount
      let name = PaxText.unescapedGNU(keyword.extracting(start..<keyword.count))
      guard !name.isEmpty, !TarBytes.contains(0, in: name.span) else {
        throw FormatError(.malformed, "an extended attribute has an empty name or a NUL byte in it")
      }
      schilyAttributes.append(ExtendedAttribute(name: name, value: TarBytes.array(value)))
    } else if TarBytes.equals(keyword, "SCHILY.acl.access") {
      accessACL = TarBytes.array(value)
    } else if TarBytes.equals(keyword, "SCHILY.acl.default") {
      defaultACL = TarBytes.array(value)
    } else if TarBytes.equals(keyword, "SCHILY.devmajor") {
      (deviceMajor, hasUnusableDevice) = Self.deviceNumber(value, hasUnusableDevice)
    } else if TarBytes.equals(keyword, "SCHILY.devminor") {
      (deviceMinor, hasUnusableDevice) = Self.deviceNumber(value, hasUnusableDevice)
    }
  }

  /// An empty record takes an earlier one back. One that is no number is a fault of devices alone.
  private static func deviceNumber(_ value: Span<UInt8>, _ isFaulty: Bool) -> (UInt64?, Bool) {
    if value.count == 0 { return (nil, isFaulty) }
    let number = TarNumber.decimal(value)
    return (number, isFaulty || number == nil)
  }

  private mutating func takeLibarchive(_ keyword: Span<UInt8>, _ value: Span<UInt8>) {
    let name = PaxText.percentDecoded(keyword.extracting(17..<keyword.count))
    guard !name.isEmpty, !TarBytes.contains(0, in: name.span), let decoded = PaxText.base64Decoded(value) else {
      notes.append("an extended attribute in libarchive's encoding cannot be decoded and was left out")
      return
    }
    libarchiveAttributes.append(ExtendedAttribute(name: name, value: decoded))
  }

  static func number(_ value: Span<UInt8>, _ keyword: StaticString) throws(FormatError) -> UInt64 {
    guard let number = TarNumber.decimal(value) else {
      throw FormatError(.malformed, "the pax record \(keyword) is no number from 0 to \(UInt64.max)")
    }
    return number
  }

  static func name(_ value: Span<UInt8>, _ keyword: StaticString) throws(FormatError) -> [UInt8] {
    guard value.count > 0 else { throw FormatError(.malformed, "the pax record \(keyword) is empty") }
    return try text(value, keyword)
  }

  private static func text(_ value: Span<UInt8>, _ keyword: StaticString) throws(FormatError) -> [UInt8] {
    guard !TarBytes.contains(0, in: value) else {
      throw FormatError(.malformed, "the pax record \(keyword) has a NUL byte")
    }
    return TarBytes.array(value)
  }
}

extension PaxAttributes {
  /// The attributes in which Linux keeps POSIX ACLs.
  static func isACLName(_ name: Span<UInt8>) -> Bool {
    TarBytes.equals(name, "system.posix_acl_access") || TarBytes.equals(name, "system.posix_acl_default")
  }

  /// Puts attributes and ACLs into a member: sorted, each name once (the last record wins, SCHILY before LIBARCHIVE),
  /// ACL attributes as ACL text.
  func addAttributes(to member: inout Member, _ notes: inout TarNotes) {
    if let accessACL { member.accessACL = accessACL }
    if let defaultACL { member.defaultACL = defaultACL }
    if schilyAttributes.isEmpty, libarchiveAttributes.isEmpty { return }
    // The sort is stable: of equal names the last one is the one that counts.
    let all = (libarchiveAttributes + schilyAttributes).sorted { TarBytes.precedes($0.name, $1.name) }
    for index in all.indices {
      if index + 1 < all.count, all[index + 1].name == all[index].name { continue }
      let name = all[index].name
      guard Self.isACLName(name.span) else {
        member.extendedAttributes.append(all[index])
        continue
      }
      guard let text = ACLText.text(fromXattr: all[index].value) else {
        notes.append("a POSIX ACL attribute cannot be read and was left out")
        continue
      }
      if TarBytes.equals(name.span, "system.posix_acl_access") {
        if accessACL == nil { member.accessACL = text }
      } else if defaultACL == nil {
        member.defaultACL = text
      }
    }
  }

  /// Takes over what a global header may say. The others would let readers disagree about where members begin.
  mutating func mergeGlobal(_ other: PaxAttributes) {
    if let userID = other.userID { self.userID = userID }
    if let groupID = other.groupID { self.groupID = groupID }
    if let userName = other.userName { self.userName = userName }
    if let groupName = other.groupName { self.groupName = groupName }
    if let time = other.modificationTime { modificationTime = time }
  }

  /// The first keyword that no global header may have, because it belongs to one member.
  var memberOnlyKeyword: String? {
    if size != nil { return "size" }
    if path != nil { return "path" }
    if linkPath != nil { return "linkpath" }
    if sparse != nil { return "GNU.sparse" }
    return nil
  }
}
