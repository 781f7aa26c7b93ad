/// POSIX ACLs between the Linux attribute and the text of `SCHILY.acl.*` records.
///
/// The attribute (linux/posix_acl_xattr.h): version 2 in 32 bits, then entries of tag (16), permissions (16) and
/// ID (32), all little-endian.
public enum ACLText {
  private enum Tag: UInt16 {
    case userOwner = 0x01
    case user = 0x02
    case groupOwner = 0x04
    case group = 0x08
    case mask = 0x10
    case other = 0x20

    var hasID: Bool { self == .user || self == .group }
  }

  private struct Entry {
    var tag: Tag
    var permissions: UInt16
    var id: UInt32

    /// Entries that may exist once have the same key.
    var key: UInt64 { UInt64(tag.rawValue) << 32 | UInt64(tag.hasID ? id : 0) }
  }

  private static let noID = UInt32.max

  /// The text of an ACL attribute, comma separated and with numeric IDs: "user::rw-,user:1000:r--,group::r--,…".
  ///
  /// - Returns: nil when the attribute is malformed.
  public static func text(fromXattr value: [UInt8]) -> [UInt8]? {
    guard value.count >= 4, (value.count - 4) % 8 == 0, integer(value, 0, 4) == 2 else { return nil }
    var out: [UInt8] = []
    for start in stride(from: 4, to: value.count, by: 8) {
      guard let tag = Tag(rawValue: UInt16(truncatingIfNeeded: integer(value, start, 2))) else { return nil }
      let permissions = integer(value, start + 2, 2)
      guard permissions <= 7 else { return nil }
      if !out.isEmpty { out.append(0x2C) }
      switch tag {
      case .userOwner, .user: TarBytes.append("user:", to: &out)
      case .groupOwner, .group: TarBytes.append("group:", to: &out)
      case .mask: TarBytes.append("mask:", to: &out)
      case .other: TarBytes.append("other:", to: &out)
      }
      if tag.hasID { TarBytes.appendDecimal(UInt64(integer(value, start + 4, 4)), to: &out) }
      out.append(0x3A)
      out.append(permissions & 4 != 0 ? 0x72 : 0x2D)
      out.append(permissions & 2 != 0 ? 0x77 : 0x2D)
      out.append(permissions & 1 != 0 ? 0x78 : 0x2D)
    }
    return out
  }

  private static func integer(_ bytes: [UInt8], _ start: Int, _ count: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in 0..<count { value |= UInt32(bytes[start + index]) << UInt32(8 * index) }
    return value
  }

  /// The attribute for an ACL text.
  ///
  /// Entries are separated by commas or newlines; "#" begins a comment; tags may be short ("u") and have the prefix
  /// "default:"; a fourth field is the numeric ID (star, libarchive). A name is looked up first and its ID field
  /// counts when the look-up finds nothing. A missing mask is the union of what it would limit, as setfacl has it.
  ///
  /// - Parameters:
  ///   - text: the entries, separated by commas or newlines.
  ///   - userID: the ID of a user name on this system.
  ///   - groupID: the ID of a group name on this system.
  /// - Returns: nil when the text is malformed, a name is unknown, an entry comes twice, or one of the three entries
  ///   that every ACL has is missing.
  public static func xattr(
    fromText text: [UInt8], userID: (([UInt8]) -> UInt32?)? = nil, groupID: (([UInt8]) -> UInt32?)? = nil
  ) -> [UInt8]? {
    var entries: [Entry] = []
    for line in text.split(separator: 0x0A) {
      for part in line.prefix(while: { $0 != 0x23 }).split(separator: 0x2C) {
        let fields = trimmed(part).split(separator: 0x3A, omittingEmptySubsequences: false).map { [UInt8](trimmed($0)) }
        if fields.count == 1, fields[0].isEmpty { continue }
        guard let entry = entry(fields, userID, groupID) else { return nil }
        entries.append(entry)
      }
    }
    return encoded(entries)
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while let first = text.first, first == 0x20 || first == 0x09 || first == 0x0D { text.removeFirst() }
    while let last = text.last, last == 0x20 || last == 0x09 || last == 0x0D { text.removeLast() }
    return text
  }

  private static func entry(
    _ allFields: [[UInt8]], _ userID: (([UInt8]) -> UInt32?)?, _ groupID: (([UInt8]) -> UInt32?)?
  ) -> Entry? {
    var fields = allFields[...]
    if let first = fields.first, isWord(first, "default", "d") { fields.removeFirst() }
    guard let word = fields.popFirst() else { return nil }
    if isWord(word, "mask", "m") || isWord(word, "other", "o") {
      // Solaris leaves the empty qualifier out.
      if fields.count > 1, fields.first?.isEmpty == true { fields.removeFirst() }
      guard fields.count == 1, let permissions = permissions(fields.removeFirst()) else { return nil }
      return Entry(tag: isWord(word, "mask", "m") ? .mask : .other, permissions: permissions, id: noID)
    }
    let isUser = isWord(word, "user", "u")
    guard isUser || isWord(word, "group", "g"), fields.count == 2 || fields.count == 3 else { return nil }
    let qualifier = fields.removeFirst()
    guard let permissions = permissions(fields.removeFirst()) else { return nil }
    if qualifier.isEmpty {
      return Entry(tag: isUser ? .userOwner : .groupOwner, permissions: permissions, id: noID)
    }
    let lookUp = isUser ? userID : groupID
    guard let id = number(qualifier) ?? lookUp?(qualifier) ?? fields.first.flatMap(number), id != noID else {
      return nil
    }
    return Entry(tag: isUser ? .user : .group, permissions: permissions, id: id)
  }

  private static func isWord(_ text: [UInt8], _ long: StaticString, _ short: StaticString) -> Bool {
    TarBytes.equals(text.span, long) || TarBytes.equals(text.span, short)
  }

  private static func number(_ text: [UInt8]) -> UInt32? {
    TarNumber.decimal(text.span).flatMap { UInt32(exactly: $0) }
  }

  private static func permissions(_ text: [UInt8]) -> UInt16? {
    guard !text.isEmpty else { return nil }
    var value: UInt16 = 0
    for byte in text {
      switch byte {
      case 0x72: value |= 4
      case 0x77: value |= 2
      case 0x78: value |= 1
      case 0x2D: break
      default: return nil
      }
    }
    return value
  }

  private static func encoded(_ given: [Entry]) -> [UInt8]? {
    var entries = given
    let hasNamed = entries.contains { $0.tag.hasID }
    if hasNamed, !entries.contains(where: { $0.tag == .mask }) {
      let limited = entries.filter { $0.tag.hasID || $0.tag == .groupOwner }
      entries.append(Entry(tag: .mask, permissions: limited.reduce(0) { $0 | $1.permissions }, id: noID))
    }
    entries.sort { $0.key < $1.key }
    for index in entries.indices.dropFirst() where entries[index].key == entries[index - 1].key { return nil }
    for tag in [Tag.userOwner, .groupOwner, .other] {
      guard entries.contains(where: { $0.tag == tag }) else { return nil }
    }
    var out: [UInt8] = [2, 0, 0, 0]
    out.reserveCapacity(4 + 8 * entries.count)
    for entry in entries {
      for value in [entry.tag.rawValue, entry.permissions] {
        out.append(UInt8(truncatingIfNeeded: value))
        out.append(UInt8(truncatingIfNeeded: value >> 8))
      }
      for shift in stride(from: UInt32(0), to: 32, by: 8) { out.append(UInt8(truncatingIfNeeded: entry.id >> shift)) }
    }
    return out
  }
}
