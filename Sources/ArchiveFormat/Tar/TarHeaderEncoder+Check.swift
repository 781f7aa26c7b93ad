extension TarHeaderEncoder {
  /// Refuses members that would not be read back as they are.
  static func check(_ member: Member) throws(FormatError) {
    guard TarPath.isNormal(member.path.span) else {
      throw FormatError(.malformed, "the path is no archive path (relative, without empty, \".\" or \"..\" components)")
    }
    guard member.path != TarPath.root || member.kind == .directory else {
      throw FormatError(.malformed, "the root \".\" is a \(member.kind), not a directory")
    }
    guard member.mode <= 0o7777 else {
      throw FormatError(.malformed, "the mode is \(member.mode), the largest is 4095 (octal 7777)")
    }
    // GNU tar ends with an error at an ID that no file can have.
    guard max(member.userID, member.groupID) <= UInt64(UInt32.max) else {
      throw FormatError(
        .limitExceeded, "the owner is \(member.userID):\(member.groupID), the largest ID is \(UInt32.max)")
    }
    guard member.modificationTime.nanoseconds <= 999_999_999 else {
      throw FormatError(.malformed, "the time has \(member.modificationTime.nanoseconds) nanoseconds")
    }
    try checkLink(member)
    try checkDevice(member)
    try checkTexts(member)
    try checkContent(member)
  }

  private static func checkLink(_ member: Member) throws(FormatError) {
    let target = member.linkTarget.span
    switch member.kind {
    case .symlink:
      guard target.count > 0, !TarBytes.contains(0, in: target) else {
        throw FormatError(.malformed, "the target of the symbolic link is empty or has a NUL byte")
      }
    case .hardlink:
      guard TarPath.isNormal(target), member.linkTarget != TarPath.root else {
        throw FormatError(.malformed, "the target of the hard link is no archive path of a file")
      }
    default:
      guard target.count == 0 else { throw FormatError(.malformed, "a \(member.kind) has a link target") }
    }
  }

  private static func checkDevice(_ member: Member) throws(FormatError) {
    switch member.kind {
    case .characterDevice, .blockDevice:
      let limit = UstarBlock.maximumIDValue
      guard UInt64(member.deviceMajor) <= limit, UInt64(member.deviceMinor) <= limit else {
        throw FormatError(
          .limitExceeded, "device \(member.deviceMajor):\(member.deviceMinor), the largest number is \(limit)")
      }
    default:
      guard member.deviceMajor == 0, member.deviceMinor == 0 else {
        throw FormatError(.malformed, "a \(member.kind) has a device number")
      }
    }
  }

  private static func checkTexts(_ member: Member) throws(FormatError) {
    guard !TarBytes.contains(0, in: member.userName.span), !TarBytes.contains(0, in: member.groupName.span) else {
      throw FormatError(.malformed, "an owner name has a NUL byte")
    }
    for index in member.extendedAttributes.indices {
      let name = member.extendedAttributes[index].name
      guard !name.isEmpty, !TarBytes.contains(0, in: name.span) else {
        throw FormatError(.malformed, "the name of an extended attribute is empty or has a NUL byte")
      }
      guard !PaxAttributes.isACLName(name.span) else {
        throw FormatError(.malformed, "a POSIX ACL is among the extended attributes")
      }
      guard index == 0 || TarBytes.precedes(member.extendedAttributes[index - 1].name, name) else {
        throw FormatError(.malformed, "the extended attributes are not in order, or one is there twice")
      }
    }
  }

  private static func checkContent(_ member: Member) throws(FormatError) {
    guard member.kind == .file else {
      guard member.byteCount == 0, member.sparseExtents == nil else {
        throw FormatError(.malformed, "a \(member.kind) has content")
      }
      return
    }
    guard member.byteCount <= TarLimits.maximumByteCount else {
      throw FormatError(
        .limitExceeded, "the size is \(member.byteCount) bytes, the limit is \(TarLimits.maximumByteCount)")
    }
    guard let extents = member.sparseExtents else { return }
    // One more may be written for a hole at the end.
    guard extents.count < TarLimits.maximumSparseExtentCount else {
      throw FormatError(
        .limitExceeded, "\(extents.count) extents, the limit is \(TarLimits.maximumSparseExtentCount - 1)")
    }
    var map = SparseMap(realByteCount: member.byteCount)
    for extent in extents {
      guard extent.byteCount > 0 else { throw FormatError(.malformed, "an extent is empty") }
      try map.append(offset: extent.offset, byteCount: extent.byteCount)
    }
    // GNU tar stores every extent in whole blocks, other readers one behind the other.
    guard !map.hasUnalignedExtent else {
      throw FormatError(.malformed, "an extent before the last is not a multiple of 512 bytes long")
    }
  }

  /// Compares what a checked member needs with the limits of readers.
  static func checkLimits(_ member: Member, _ plan: TarHeaderPlan) throws(FormatError) {
    guard plan.size <= TarLimits.maximumByteCount else {
      throw FormatError(.limitExceeded, "the stored size is \(plan.size), the limit is \(TarLimits.maximumByteCount)")
    }
    guard plan.paxByteCount <= TarLimits.maximumPaxByteCount else {
      throw FormatError(
        .limitExceeded, "the pax header has \(plan.paxByteCount) bytes, the limit is \(TarLimits.maximumPaxByteCount)")
    }
    let longest = max(
      plan.pathForm == .gnu ? member.path.count : 0, plan.linkForm == .gnu ? member.linkTarget.count : 0)
    // A slash and a NUL may follow.
    guard longest <= TarLimits.maximumLongNameByteCount - 2 else {
      throw FormatError(
        .limitExceeded, "a name has \(longest) bytes, the limit is \(TarLimits.maximumLongNameByteCount - 2)")
    }
  }
}
