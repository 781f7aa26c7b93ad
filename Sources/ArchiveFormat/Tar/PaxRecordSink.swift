/// Takes pax records (POSIX.1 pax, "pax Extended Header"): "length keyword=value\n", the length counting itself.
protocol PaxRecordSink {
  mutating func record(_ keyword: StaticString, _ value: [UInt8], suffix: StaticString)
  mutating func record(_ keyword: StaticString, decimal value: UInt64)
  mutating func record(_ keyword: StaticString, time: Timestamp)
  /// SCHILY.xattr.name, in which "%" and "=" are written "%25" and "%3D" as GNU tar does.
  mutating func record(_ attribute: ExtendedAttribute)
}

/// The length of records.
enum PaxRecord {
  static let attributePrefix: StaticString = "SCHILY.xattr."

  /// Bytes of a whole record whose keyword and value have the given lengths.
  static func byteCount(keywordByteCount: Int, valueByteCount: Int) -> Int {
    // Blank, "=" and newline.
    let rest = keywordByteCount + valueByteCount + 3
    var count = rest + TarBytes.decimalDigitCount(UInt64(rest))
    // The digits of the length may push it over a power of ten.
    if rest + TarBytes.decimalDigitCount(UInt64(count)) > count { count += 1 }
    return count
  }

  /// Bytes of an attribute's name with its escapes.
  static func escapedByteCount(_ name: [UInt8]) -> Int {
    var count = name.count
    for byte in name where byte == 0x25 || byte == 0x3D { count += 2 }
    return count
  }
}

/// Counts the bytes of records.
struct PaxByteCounter: PaxRecordSink {
  private(set) var byteCount = 0

  mutating func record(_ keyword: StaticString, _ value: [UInt8], suffix: StaticString) {
    add(keyword.utf8CodeUnitCount, value.count + suffix.utf8CodeUnitCount)
  }

  mutating func record(_ keyword: StaticString, decimal value: UInt64) {
    add(keyword.utf8CodeUnitCount, TarBytes.decimalDigitCount(value))
  }

  mutating func record(_ keyword: StaticString, time: Timestamp) {
    add(keyword.utf8CodeUnitCount, TarTimestamp.byteCount(time))
  }

  mutating func record(_ attribute: ExtendedAttribute) {
    add(
      PaxRecord.attributePrefix.utf8CodeUnitCount + PaxRecord.escapedByteCount(attribute.name), attribute.value.count)
  }

  private mutating func add(_ keywordByteCount: Int, _ valueByteCount: Int) {
    byteCount += PaxRecord.byteCount(keywordByteCount: keywordByteCount, valueByteCount: valueByteCount)
  }
}

/// Writes records.
struct PaxRecordWriter: PaxRecordSink {
  var out: [UInt8]

  mutating func record(_ keyword: StaticString, _ value: [UInt8], suffix: StaticString) {
    begin(keyword, valueByteCount: value.count + suffix.utf8CodeUnitCount)
    out.append(contentsOf: value)
    TarBytes.append(suffix, to: &out)
    out.append(0x0A)
  }

  mutating func record(_ keyword: StaticString, decimal value: UInt64) {
    begin(keyword, valueByteCount: TarBytes.decimalDigitCount(value))
    TarBytes.appendDecimal(value, to: &out)
    out.append(0x0A)
  }

  mutating func record(_ keyword: StaticString, time: Timestamp) {
    begin(keyword, valueByteCount: TarTimestamp.byteCount(time))
    TarTimestamp.append(time, to: &out)
    out.append(0x0A)
  }

  mutating func record(_ attribute: ExtendedAttribute) {
    let prefix = PaxRecord.attributePrefix
    let count = PaxRecord.byteCount(
      keywordByteCount: prefix.utf8CodeUnitCount + PaxRecord.escapedByteCount(attribute.name),
      valueByteCount: attribute.value.count)
    TarBytes.appendDecimal(UInt64(count), to: &out)
    out.append(0x20)
    TarBytes.append(prefix, to: &out)
    for byte in attribute.name {
      switch byte {
      case 0x25: TarBytes.append("%25", to: &out)
      case 0x3D: TarBytes.append("%3D", to: &out)
      default: out.append(byte)
      }
    }
    out.append(0x3D)
    out.append(contentsOf: attribute.value)
    out.append(0x0A)
  }

  private mutating func begin(_ keyword: StaticString, valueByteCount: Int) {
    let count = PaxRecord.byteCount(keywordByteCount: keyword.utf8CodeUnitCount, valueByteCount: valueByteCount)
    TarBytes.appendDecimal(UInt64(count), to: &out)
    out.append(0x20)
    TarBytes.append(keyword, to: &out)
    out.append(0x3D)
  }
}
