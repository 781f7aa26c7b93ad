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
    if let name = attributes.userName ?? globals.userName {
      candidate.member.userName = name
    } else if hasNames {
      Self.refresh(&lastUserName, block.extracting(UstarBlock.Field.userName))
      candidate.member.userName = lastUserName
    }
    if let name = attributes.groupName ?? globals.groupName {
      candidate.member.groupName = name
    } else if hasNames {
      Self.refresh(&lastGroupName, block.extracting(UstarBlock.Field.groupName))
      candidate.member.groupName = lastGroupName
    }
  }

  private static func refresh(_ text: inout [UInt8], _ field: Span<UInt8>) {
    let bytes = field.extracting(0..<textCount(field))
    if !TarBytes.equals(bytes, text) { text = TarBytes.array(bytes) }
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
