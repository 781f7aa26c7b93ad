internal import ArchiveFormat
internal import ArchiveIO

/// An access control list in the form in which two of them are compared.
struct ComparedACL: Equatable {
  /// The attribute's bytes, or the text where it is not understood; empty without a list.
  private let value: [UInt8]
  private let isUnderstood: Bool

  /// The list that a member's text says. One that says no more than the mode is none: file systems do not keep it.
  init(_ text: [UInt8], _ owners: OwnerNames, isDefault: Bool) {
    let known = ACLText.xattr(fromText: text, userID: { owners.userID($0) }, groupID: { owners.groupID($0) })
    isUnderstood = text.isEmpty || known != nil
    let onlyMode = Self.headerByteCount + 3 * Self.entryByteCount
    if text.isEmpty || (!isDefault && known?.count == onlyMode) { value = [] } else { value = known ?? text }
  }

  /// The mode that a file with this list has: its mask stands in the place of the group's bits. Some programs archive
  /// the group's own instead.
  func mode(_ archived: UInt32) -> UInt32 {
    guard isUnderstood else { return archived }
    for start in stride(from: Self.headerByteCount, to: value.count - Self.entryByteCount + 1, by: Self.entryByteCount)
    where value[start] == Self.maskTag && value[start + 1] == 0 {
      return (archived & ~0o070) | UInt32(value[start + 2] & 7) << 3
    }
    return archived
  }

  // linux/posix_acl_xattr.h
  private static let headerByteCount = 4
  private static let entryByteCount = 8
  private static let maskTag: UInt8 = 0x10
}
