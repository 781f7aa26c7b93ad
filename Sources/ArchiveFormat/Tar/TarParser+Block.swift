extension TarParser {
  /// Offset of the block that was taken last.
  var blockOffset: UInt64 { offset &- UInt64(TarLimits.blockByteCount) }

  /// Takes a header block.
  mutating func takeBlock(_ block: Span<UInt8>) throws(FormatError) -> Event? {
    if block[0] == 0, TarBytes.leadingZeroCount(block) == block.count {
      if !isLenient, !extensions.isEmpty {
        throw FormatError(.malformed, "an extended header is followed by the end of the archive", offset: blockOffset)
      }
      return end()
    }
    try Self.checkSum(block, offset: blockOffset)
    if memberOffset == nil { memberOffset = blockOffset }
    let typeFlag = block[UstarBlock.Field.typeFlag]
    switch typeFlag {
    case UInt8(ascii: "x"), UInt8(ascii: "X"):
      try beginPayload(block, typeFlag: UInt8(ascii: "x"), limit: TarLimits.maximumPaxByteCount, "a pax header")
    case UInt8(ascii: "g"):
      try beginPayload(block, typeFlag: typeFlag, limit: TarLimits.maximumPaxByteCount, "a global pax header")
    case UInt8(ascii: "L"), UInt8(ascii: "K"):
      try beginPayload(block, typeFlag: typeFlag, limit: TarLimits.maximumLongNameByteCount, "a GNU long name")
    case UInt8(ascii: "V"):
      let size = TarLimits.padded(try headerSize(block))
      if size > 0 { phase = .discarded(size) }
    case UInt8(ascii: "A"):
      // Solaris tar writes ACLs in a form of its own in front of the member.
      let size = TarLimits.padded(try headerSize(block))
      if size > 0 { phase = .discarded(size) }
      extensions.notes.append("an ACL in the form of Solaris tar was left out")
    default:
      return try takeMemberBlock(block, typeFlag: typeFlag)
    }
    return nil
  }

  private mutating func beginPayload(
    _ block: Span<UInt8>, typeFlag: UInt8, limit: Int, _ what: StaticString
  ) throws(FormatError) {
    let size = try headerSize(block)
    guard size <= UInt64(limit) else {
      throw FormatError(.limitExceeded, "\(what) announces \(size) bytes, the limit is \(limit)", offset: blockOffset)
    }
    if size == 0 {
      takePayload(block.extracting(0..<0), typeFlag: typeFlag)
    } else {
      phase = .payload(typeFlag: typeFlag, byteCount: Int(size))
    }
  }

  /// The size field of a header, checked against the limit. Pax records never apply to extended headers.
  func headerSize(_ block: Span<UInt8>) throws(FormatError) -> UInt64 {
    let field = block.extracting(UstarBlock.Field.size)
    if field[0] == 0, TarBytes.leadingZeroCount(field) < field.count, (0x30...0x37).contains(field[1]) {
      // For GNU tar the number begins behind the NUL, for others it is over.
      throw FormatError(.malformed, "the size field begins with a NUL and goes on with a number", offset: blockOffset)
    }
    switch TarNumber.field(field) {
    case .malformed:
      throw FormatError(.malformed, "the size field is no number", offset: blockOffset)
    case .value(let value) where value < 0:
      throw FormatError(.malformed, "the size is \(value)", offset: blockOffset)
    case .value(let value) where UInt64(value) <= TarLimits.maximumByteCount:
      return UInt64(value)
    case .value(let value):
      throw FormatError(
        .limitExceeded, "the size is \(value), the limit is \(TarLimits.maximumByteCount)", offset: blockOffset)
    case .tooLarge:
      throw FormatError(
        .limitExceeded, "the size has more than 63 bits, the limit is \(TarLimits.maximumByteCount)",
        offset: blockOffset)
    }
  }

  /// Takes the body of an extended header, without its padding.
  mutating func takePayload(_ payload: Span<UInt8>, typeFlag: UInt8) {
    switch typeFlag {
    case UInt8(ascii: "x"): takePax(payload)
    case UInt8(ascii: "g"): takeGlobal(payload)
    default: takeLongName(payload, isLink: typeFlag == UInt8(ascii: "K"))
    }
  }

  private mutating func takePax(_ payload: Span<UInt8>) {
    var attributes = PaxAttributes()
    let fault = attributes.parse(payload)
    if extensions.attributes != nil {
      if isLenient {
        extensions.notes.append("two pax headers in front of one member: the second counts")
        extensions.paxFault = nil
      } else {
        extensions.reject(FormatError(.malformed, "two pax headers in front of one member"))
      }
    }
    extensions.paxFault = fault
    extensions.attributes = attributes
  }

  private mutating func takeGlobal(_ payload: Span<UInt8>) {
    hasGlobalRecords = true
    var attributes = PaxAttributes()
    if let fault = attributes.parse(payload) {
      if isLenient {
        extensions.notes.append("in a global pax header, \(fault.message)")
      } else {
        extensions.reject(fault)
      }
    }
    if let keyword = attributes.memberOnlyKeyword {
      if isLenient {
        extensions.notes.append("the record \(keyword) of a global pax header was ignored")
      } else {
        extensions.reject(FormatError(.malformed, "a global pax header has the record \(keyword)"))
      }
    }
    extensions.notes.append(contentsOf: attributes.notes)
    globals.mergeGlobal(attributes)
  }

  private mutating func takeLongName(_ payload: Span<UInt8>, isLink: Bool) {
    let count = TarBytes.firstIndex(of: 0, in: payload) ?? payload.count
    let name = TarBytes.array(payload.extracting(0..<count))
    if (isLink ? extensions.longLink : extensions.longName) != nil {
      refuseOrNote("two GNU long \(isLink ? "links" : "names") in front of one member")
    }
    if let attributes = extensions.attributes,
      attributes.size != nil || attributes.path != nil || attributes.linkPath != nil
    {
      refuseOrNote("a pax header with a size, path or linkpath in front of a GNU long name")
    }
    if isLink { extensions.longLink = name } else { extensions.longName = name }
  }

  /// What readers take differently: refused, or noted by the lenient parser.
  private mutating func refuseOrNote(_ message: String) {
    if isLenient { extensions.notes.append(message) } else { extensions.reject(FormatError(.malformed, message)) }
  }

  /// Compares the checksum field with the sum of the block, in which the field counts as spaces. Old writers
  /// summed signed bytes.
  static func checkSum(_ block: Span<UInt8>, offset: UInt64) throws(FormatError) {
    let sum = sum(of: block)
    let field = TarNumber.field(block.extracting(UstarBlock.Field.checksum))
    guard case .value(let expected) = field else {
      throw FormatError(.malformed, "the checksum field is no number, the sum is \(sum)", offset: offset)
    }
    guard expected == sum || expected == signedSum(of: block, sum) else {
      throw FormatError(
        .malformed, "the checksum is \(expected), the sum of the header is \(sum)", offset: offset)
    }
  }

  private static func sum(of block: Span<UInt8>) -> Int64 {
    var sum: UInt32 = 0
    // Safe: the buffer is only read while the span is borrowed. A raw loop is vectorized.
    unsafe block.withUnsafeBufferPointer { bytes in
      for index in 0..<bytes.count { sum &+= UInt32(unsafe bytes[index]) }
    }
    for index in UstarBlock.Field.checksum { sum = sum &+ 0x20 &- UInt32(block[index]) }
    return Int64(sum)
  }

  private static func signedSum(of block: Span<UInt8>, _ unsigned: Int64) -> Int64 {
    var sum = unsigned
    for index in 0..<block.count where block[index] & 0x80 != 0 && !UstarBlock.Field.checksum.contains(index) {
      sum -= 256
    }
    return sum
  }

  /// Whether a block may be a tar header, for salvage: 512 bytes with a right checksum and a known magic, or none as
  /// in v7.
  public static func isPlausibleHeader(_ block: Span<UInt8>) -> Bool {
    guard block.count == TarLimits.blockByteCount, TarBytes.leadingZeroCount(block) < block.count else { return false }
    do throws(FormatError) { try checkSum(block, offset: 0) } catch { return false }
    let magic = block.extracting(UstarBlock.Field.magic)
    if TarBytes.hasPrefix(magic, "ustar") { return magic[5] == 0 || magic[5] == 0x20 }
    return TarBytes.leadingZeroCount(magic) == magic.count
  }
}
