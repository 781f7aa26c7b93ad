/// Bytes in a test's table: text, or whatever no text can be.
struct Bytes: ExpressibleByStringInterpolation, Sendable {
  var bytes: [UInt8]

  init(stringLiteral value: String) { bytes = Array(value.utf8) }
  init(_ text: String) { bytes = Array(text.utf8) }
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(repeating byte: Character, count: Int) { bytes = Array(repeating: byte.asciiValue ?? 0, count: count) }
}

/// Makes tar archives by hand, the wrong ones too: nothing is checked, any field can be overwritten.
enum Tar {
  /// Two zero blocks.
  static let end = [UInt8](repeating: 0, count: 1024)

  /// The fields of a header.
  struct Header: Sendable {
    var name: Bytes = ""
    var size: UInt64 = 0
    var type: Character = "0"
    var link: Bytes = ""
    var mode: UInt32 = 0o644
    var userID: UInt64 = 0
    var groupID: UInt64 = 0
    var time: UInt64 = 0
    var magic: Bytes = "ustar\u{0}00"
    var device: (major: UInt64, minor: UInt64) = (0, 0)
    var prefix: Bytes = ""
    /// Written over the fields before the checksum is made.
    var patches: [(offset: Int, bytes: Bytes)] = []

    /// The block, with a right checksum.
    var block: [UInt8] {
      var block = [UInt8](repeating: 0, count: 512)
      func put(_ bytes: [UInt8], _ offset: Int, limit: Int = 512) {
        block.replaceSubrange(offset..<(offset + min(bytes.count, limit)), with: bytes.prefix(limit))
      }
      put(name.bytes, 0, limit: 100)
      put(number(UInt64(mode), 8), 100)
      put(number(userID, 8), 108)
      put(number(groupID, 8), 116)
      put(number(size, 12), 124)
      put(number(time, 12), 136)
      put(Array("        ".utf8), 148)
      put([type.asciiValue ?? 0], 156)
      put(link.bytes, 157, limit: 100)
      put(magic.bytes, 257, limit: 8)
      put(number(device.major, 8), 329)
      put(number(device.minor, 8), 337)
      put(prefix.bytes, 345, limit: 155)
      for patch in patches { put(patch.bytes.bytes, patch.offset) }
      let sum = block.reduce(0) { $0 + Int($1) }
      put(octal(UInt64(sum), 6) + [0, 0x20], 148)
      return block
    }
  }

  /// Octal digits and a NUL when they fit, else the number in base 256.
  static func number(_ value: UInt64, _ width: Int) -> [UInt8] {
    let digits = octal(value, width - 1)
    if digits.count < width { return digits + [0] }
    var bytes = (0..<width).map { UInt8(truncatingIfNeeded: $0 > 7 ? 0 : value >> UInt64(8 * $0)) }
    bytes[width - 1] |= 0x80
    return bytes.reversed()
  }

  /// Octal digits with zeros before them.
  static func octal(_ value: UInt64, _ width: Int) -> [UInt8] {
    let digits = Array(String(value, radix: 8).utf8)
    return [UInt8](repeating: 0x30, count: max(0, width - digits.count)) + digits
  }

  /// Zeros up to the next block.
  static func padded(_ bytes: [UInt8]) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
  }

  /// A header, and data with their padding; `change` can make the header say something else.
  static func entry(
    _ name: Bytes, _ data: Bytes = "", type: Character = "0", link: Bytes = "",
    _ change: (inout Header) -> Void = { _ in }
  ) -> [UInt8] {
    var header = Header(name: name, size: UInt64(data.bytes.count), type: type, link: link)
    change(&header)
    return header.block + padded(data.bytes)
  }

  static func directory(_ name: Bytes, mode: UInt32 = 0o755) -> [UInt8] {
    entry(name, type: "5") { $0.mode = mode }
  }

  static func symlink(_ name: Bytes, to target: Bytes) -> [UInt8] { entry(name, type: "2", link: target) }

  static func hardLink(_ name: Bytes, to target: Bytes) -> [UInt8] { entry(name, type: "1", link: target) }

  /// A pax record, whose length counts its own digits.
  static func record(_ key: Bytes, _ value: Bytes) -> [UInt8] {
    let body = [0x20] + key.bytes + [0x3D] + value.bytes + [0x0A]
    var count = body.count
    while String(count).utf8.count + body.count != count { count = String(count).utf8.count + body.count }
    return Array(String(count).utf8) + body
  }

  /// An extended header for the next member, or with type "g" for all that follow.
  static func pax(_ records: (Bytes, Bytes)..., type: Character = "x") -> [UInt8] {
    entry("PaxHeaders/p", Bytes(records.flatMap { record($0.0, $0.1) }), type: type)
  }

  /// An extended header with this body, right or not.
  static func rawPax(_ body: Bytes) -> [UInt8] { entry("PaxHeaders/p", body, type: "x") }

  /// A GNU long name ("L") or long link ("K").
  static func long(_ name: Bytes, type: Character = "L", endsWithNUL: Bool = true) -> [UInt8] {
    entry("././@LongLink", Bytes(name.bytes + (endsWithNUL ? [0] : [])), type: type)
  }

  /// A sparse file in the form of GNU tar 1.0: map and data are both stored data.
  static func sparse(
    _ map: Bytes, _ data: Bytes, size: Bytes, name: Bytes = "s", version: (Bytes, Bytes) = ("1", "0")
  ) -> [UInt8] {
    pax(
      ("GNU.sparse.major", version.0), ("GNU.sparse.minor", version.1), ("GNU.sparse.name", name),
      ("GNU.sparse.realsize", size)) + entry("GNUSparseFile.0/s", Bytes(padded(map.bytes) + data.bytes))
  }

  /// A sparse file in GNU tar's old form, with up to four extents.
  static func oldSparse(_ extents: [(UInt64, UInt64)], _ data: Bytes, size: UInt64) -> [UInt8] {
    entry("s", data, type: "S") { header in
      header.magic = "ustar  \u{0}"
      for (index, extent) in extents.enumerated() {
        header.patches.append((386 + 24 * index, Bytes(number(extent.0, 12))))
        header.patches.append((398 + 24 * index, Bytes(number(extent.1, 12))))
      }
      header.patches.append((483, Bytes(number(size, 12))))
    }
  }
}
