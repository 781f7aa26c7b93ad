/// Numbers as tar headers and pax records write them.
enum TarNumber {
  /// What a numeric header field can hold.
  enum Field: Equatable {
    case value(Int64)
    /// A base-256 number outside of Int64.
    case tooLarge
    case malformed
  }

  /// Reads a numeric header field: octal, or base-256 when the top bit is set (GNU tar, star).
  ///
  /// Octal may have leading spaces and ends at a NUL, a space or the end of the field. An empty field is 0, as
  /// old writers leave fields blank that they do not use.
  static func field(_ bytes: Span<UInt8>) -> Field {
    guard bytes.count > 0 else { return .value(0) }
    if bytes[0] & 0x80 != 0 { return base256(bytes) }
    var index = 0
    while index < bytes.count, bytes[index] == 0x20 { index += 1 }
    var value: Int64 = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0 || byte == 0x20 { break }
      guard (0x30...0x37).contains(byte) else { return .malformed }
      // A field has at most 12 digits, which is 36 bits.
      value = value << 3 | Int64(byte & 7)
      index += 1
    }
    return .value(value)
  }

  /// Two's complement, big-endian, below the top bit that marks the form.
  private static func base256(_ bytes: Span<UInt8>) -> Field {
    let isNegative = bytes[0] & 0x40 != 0
    var value: Int64 = isNegative ? -1 : 0
    for index in 0..<bytes.count {
      var byte = bytes[index]
      if index == 0 { byte = isNegative ? byte | 0x80 : byte & 0x7F }
      // The next shift must not lose bits that differ from the sign.
      guard value >= -(1 << 55), value < 1 << 55 else { return .tooLarge }
      value = value << 8 | Int64(byte)
    }
    return .value(value)
  }

  /// Digits only, at least one; nil when there is anything else or the value is above UInt64.
  static func decimal(_ bytes: Span<UInt8>) -> UInt64? {
    guard bytes.count > 0 else { return nil }
    var value: UInt64 = 0
    for index in 0..<bytes.count {
      let byte = bytes[index]
      guard (0x30...0x39).contains(byte) else { return nil }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isTooLargeSum) = product.addingReportingOverflow(UInt64(byte &- 0x30))
      guard !isTooLarge, !isTooLargeSum else { return nil }
      value = sum
    }
    return value
  }
}
