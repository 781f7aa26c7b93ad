extension TarParser {
  /// A numeric field in which a fault refuses the entry.
  private static func number(
    _ block: Span<UInt8>, _ field: Range<Int>, _ what: StaticString
  ) throws(FormatError) -> Int64 {
    switch TarNumber.field(block.extracting(field)) {
    case .value(let value): return value
    case .malformed: throw FormatError(.malformed, "the field of the \(what) is no number")
    case .tooLarge: throw FormatError(.malformed, "the \(what) has more than 63 bits")
    }
  }

  /// A numeric field that cannot be negative.
  private static func unsigned(
    _ block: Span<UInt8>, _ field: Range<Int>, _ what: StaticString
  ) throws(FormatError) -> UInt64 {
    let value = try number(block, field, what)
    guard value >= 0 else { throw FormatError(.malformed, "the \(what) is \(value)") }
    return UInt64(value)
  }

  mutating func fillOwner(
    _ candidate: inout TarCandidate, _ block: Span<UInt8>, _ attributes: PaxAttributes
  ) throws(FormatError) {
    let mode = try Self.number(block, UstarBlock.Field.mode, "mode")
    candidate.member.mode = UInt32(truncatingIfNeeded: mode & 0o7777)
    let userID = attributes.userID ?? globals.userID
    let groupID = attributes.groupID ?? globals.groupID
    candidate.member.userID =
      if let userID { userID } else { try Self.unsigned(block, UstarBlock.Field.userID, "user ID") }
    candidate.member.groupID =
      if let groupID { groupID } else { try Self.unsigned(block, UstarBlock.Field.groupID, "group ID") }
    for (id, what) in [(candidate.member.userID, "user"), (candidate.member.groupID, "group")]
    where id >= UInt64(UInt32.max) {
      candidate.notes.append("the \(what) ID \(id) cannot be given to a file")
    }
    let hasNames = TarBytes.hasPrefix(block.extracting(UstarBlock.Field.magic), "ustar")
    if hasNames {
      refreshOwnerNames(block.extracting(UstarBlock.Field.userName), block.extracting(UstarBlock.Field.groupName))
      candidate.member.ownerNames = lastOwnerNames
    }
    if let name = attributes.userName ?? globals.userName { candidate.member.userName = name }
    if let name = attributes.groupName ?? globals.groupName { candidate.member.groupName = name }
  }

  /// Neighbours mostly have one owner, and share its names.
  private mutating func refreshOwnerNames(_ userField: Span<UInt8>, _ groupField: Span<UInt8>) {
    let user = userField.extracting(0..<Self.textCount(userField))
    let group = groupField.extracting(0..<Self.textCount(groupField))
    let last = lastOwnerNames.value
    if !TarBytes.equals(user, last.user) || !TarBytes.equals(group, last.group) {
      lastOwnerNames = SharedValue(MemberOwnerNames(user: TarBytes.array(user), group: TarBytes.array(group)))
    }
  }

  func fillTimeAndDevice(
    _ candidate: inout TarCandidate, _ block: Span<UInt8>, _ attributes: PaxAttributes
  ) throws(FormatError) {
    if let time = attributes.modificationTime ?? globals.modificationTime {
      candidate.member.modificationTime = time
    } else {
      let field = TarNumber.field(block.extracting(UstarBlock.Field.modificationTime))
      switch field {
      case .value(let seconds): candidate.member.modificationTime = Timestamp(seconds: seconds)
      case .malformed: throw FormatError(.malformed, "the field of the modification time is no number")
      case .tooLarge:
        let isNegative = block[UstarBlock.Field.modificationTime.lowerBound] & 0x40 != 0
        candidate.member.modificationTime = Timestamp(seconds: isNegative ? .min : .max)
        candidate.notes.append("the modification time is out of range and was clamped")
      }
    }
    guard candidate.member.kind == .characterDevice || candidate.member.kind == .blockDevice else { return }
    if attributes.hasUnusableDevice {
      throw FormatError(.malformed, "a pax record of the device number is no number")
    }
    candidate.member.deviceMajor = try Self.deviceNumber(
      attributes.deviceMajor, block, UstarBlock.Field.deviceMajor, "major device number")
    candidate.member.deviceMinor = try Self.deviceNumber(
      attributes.deviceMinor, block, UstarBlock.Field.deviceMinor, "minor device number")
  }

  private static func deviceNumber(
    _ record: UInt64?, _ block: Span<UInt8>, _ field: Range<Int>, _ what: StaticString
  ) throws(FormatError) -> UInt32 {
    // v7 has no device numbers.
    guard TarBytes.hasPrefix(block.extracting(UstarBlock.Field.magic), "ustar") else {
      throw FormatError(.malformed, "a device without a \(what)")
    }
    let value = if let record { record } else { try unsigned(block, field, what) }
    guard let number = UInt32(exactly: value) else { throw FormatError(.malformed, "the \(what) is \(value)") }
    return number
  }
}
