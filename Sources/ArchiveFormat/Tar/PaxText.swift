/// The escapes that writers use inside of pax keywords and values.
enum PaxText {
  /// GNU tar's escapes in attribute names: "%25" is "%", "%3D" is "=", anything else stands for itself.
  static func unescapedGNU(_ text: Span<UInt8>) -> [UInt8] {
    unescaped(text) { $0 == 0x25 || $0 == 0x3D ? $0 : nil }
  }

  /// URL escapes, as in libarchive's attribute names. A "%" without two hexadecimal digits stands for itself.
  static func percentDecoded(_ text: Span<UInt8>) -> [UInt8] {
    unescaped(text) { $0 }
  }

  private static func unescaped(_ text: Span<UInt8>, _ accept: (UInt8) -> UInt8?) -> [UInt8] {
    guard TarBytes.contains(0x25, in: text) else { return TarBytes.array(text) }
    var out: [UInt8] = []
    out.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      if text[index] == 0x25, index + 2 < text.count, let high = hexadecimal(text[index + 1]),
        let low = hexadecimal(text[index + 2]), let byte = accept(high << 4 | low)
      {
        out.append(byte)
        index += 3
      } else {
        out.append(text[index])
        index += 1
      }
    }
    return out
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  /// Base64 with or without "=" at the end; nil when there is any other byte or an impossible length.
  static func base64Decoded(_ text: Span<UInt8>) -> [UInt8]? {
    var count = text.count
    while count > 0, text.count - count < 2, text[count - 1] == 0x3D { count -= 1 }
    guard count % 4 != 1 else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(count / 4 * 3 + 2)
    var bits: UInt32 = 0
    var bitCount = 0
    for index in 0..<count {
      guard let value = base64Value(text[index]) else { return nil }
      bits = bits << 6 | value
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      out.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
    }
    return out
  }

  private static func base64Value(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x41...0x5A: UInt32(byte) - 0x41
    case 0x61...0x7A: UInt32(byte) - 0x61 + 26
    case 0x30...0x39: UInt32(byte) - 0x30 + 52
    case 0x2B: 62
    case 0x2F: 63
    default: nil
    }
  }
}
