/// One header block in the layout of POSIX.1 "ustar Interchange Format", while it is written.
struct UstarBlock {
  /// Offsets and lengths of the fields in bytes.
  enum Field {
    static let name = 0..<100
    static let mode = 100..<108
    static let userID = 108..<116
    static let groupID = 116..<124
    static let size = 124..<136
    static let modificationTime = 136..<148
    static let checksum = 148..<156
    static let typeFlag = 156
    static let linkName = 157..<257
    /// The magic with the version behind it.
    static let magic = 257..<265
    static let userName = 265..<297
    static let groupName = 297..<329
    static let deviceMajor = 329..<337
    static let deviceMinor = 337..<345
    static let prefix = 345..<500
  }

  /// Largest values of the octal fields with their terminator.
  static let maximumIDValue: UInt64 = 0o7777777
  static let maximumSizeValue: UInt64 = 0o77777777777

  private var bytes: InlineArray<512, UInt8>

  init(typeFlag: UInt8, mode: UInt32, size: UInt64) {
    bytes = InlineArray(repeating: 0)
    setOctal(UInt64(mode), Field.mode)
    setOctal(0, Field.userID)
    setOctal(0, Field.groupID)
    setOctal(size, Field.size)
    setOctal(0, Field.modificationTime)
    bytes[Field.typeFlag] = typeFlag
    set("ustar", at: Field.magic.lowerBound)
    bytes[263] = 0x30
    bytes[264] = 0x30
    setOctal(0, Field.deviceMajor)
    setOctal(0, Field.deviceMinor)
  }

  /// Copies bytes to an offset. The caller has checked that they fit in the field.
  mutating func set(_ source: Span<UInt8>, at offset: Int) {
    for index in 0..<source.count { bytes[offset &+ index] = source[index] }
  }

  mutating func set(_ literal: StaticString, at offset: Int) {
    for index in 0..<literal.utf8CodeUnitCount {
      // Safe: index is below the length of the literal.
      bytes[offset + index] = unsafe literal.utf8Start[index]
    }
  }

  mutating func set(_ byte: UInt8, at offset: Int) { bytes[offset] = byte }

  /// Zero-padded octal digits and a NUL, filling the field. The caller has checked that the value fits.
  mutating func setOctal(_ value: UInt64, _ field: Range<Int>) {
    var rest = value
    var index = field.upperBound - 2
    while index >= field.lowerBound {
      bytes[index] = 0x30 | UInt8(truncatingIfNeeded: rest & 7)
      rest >>= 3
      index -= 1
    }
  }

  /// Sets the checksum and appends the block.
  mutating func append(to out: inout [UInt8]) {
    // The sum counts the checksum field as eight spaces.
    var sum: UInt64 = 8 * 0x20
    for index in 0..<512 { sum &+= UInt64(bytes[index]) }
    setOctal(sum, 148..<155)
    bytes[155] = 0x20
    TarBytes.append(bytes.span, to: &out)
    bytes[155] = 0
    for index in 148..<155 { bytes[index] = 0 }
  }
}
