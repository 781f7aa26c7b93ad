/// Makes tar blocks by hand, wrong ones too.
enum RawTar {
  static let end = [UInt8](repeating: 0, count: 1024)
  static let ustarMagic = Array("ustar\u{0}00".utf8)
  static let gnuMagic = Array("ustar  \u{0}".utf8)

  /// A block with these bytes at these offsets, and a right checksum.
  static func block(_ fields: [(offset: Int, bytes: [UInt8])]) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    for field in fields {
      for (index, byte) in field.bytes.prefix(max(0, 512 - field.offset)).enumerated() {
        block[field.offset + index] = byte
      }
    }
    setChecksum(&block, at: 0)
    return block
  }

  /// A header with the fields that all kinds of members have.
  static func header(
    _ name: [UInt8], type: UInt8, size: UInt64, mode: UInt64 = 0o644, link: [UInt8] = [], magic: [UInt8] = ustarMagic,
    time: UInt64 = 1, owner: UInt64 = 0, fields: [(offset: Int, bytes: [UInt8])] = []
  ) -> [UInt8] {
    block(
      [
        (0, Array(name.prefix(100))), (100, number(mode, 8)), (108, number(owner, 8)), (116, number(owner, 8)),
        (124, number(size, 12)), (136, number(time, 12)), (156, [type]), (157, Array(link.prefix(100))), (257, magic),
      ] + fields)
  }

  /// Makes the checksum of the block at an offset right.
  static func setChecksum(_ bytes: inout [UInt8], at offset: Int) {
    for index in 148..<156 { bytes[offset + index] = 0x20 }
    var sum = 0
    for index in 0..<512 { sum += Int(bytes[offset + index]) }
    for (index, digit) in octal(UInt64(sum), 6).enumerated() { bytes[offset + 148 + index] = digit }
    bytes[offset + 154] = 0
  }

  /// Octal digits and a NUL when they fit, else the number in base 256.
  static func number(_ value: UInt64, _ width: Int) -> [UInt8] {
    if width >= 23 || value >> UInt64(3 * (width - 1)) == 0 { return octal(value, width - 1) + [0] }
    var bytes = [UInt8](repeating: 0, count: width)
    for index in 0..<min(8, width) { bytes[width - 1 - index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
    bytes[0] |= 0x80
    return bytes
  }

  /// The last so many octal digits.
  static func octal(_ value: UInt64, _ width: Int) -> [UInt8] {
    (0..<width).map { 0x30 | UInt8(truncatingIfNeeded: value >> UInt64(3 * (width - 1 - $0)) & 7) }
  }

  static func padded(_ data: [UInt8]) -> [UInt8] {
    data + [UInt8](repeating: 0, count: (512 - data.count % 512) % 512)
  }

  /// A pax record, whose length counts its own digits.
  static func record(_ keyword: [UInt8], _ value: [UInt8]) -> [UInt8] {
    let body = [0x20] + keyword + [0x3D] + value + [0x0A]
    var count = body.count
    while String(count).utf8.count + body.count != count { count = String(count).utf8.count + body.count }
    return Array(String(count).utf8) + body
  }

  static func record(_ keyword: String, _ value: String) -> [UInt8] { record(Array(keyword.utf8), Array(value.utf8)) }

  /// An extended header with this body.
  static func extended(_ type: Character, _ body: [UInt8]) -> [UInt8] {
    header(Array("././@Extended".utf8), type: type.asciiValue ?? 0, size: UInt64(body.count)) + padded(body)
  }
}
