/// Base64 of RFC 4648, with padding.
package enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of the bytes.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var group: UInt32 = 0
      for place in 0..<3 { group = group << 8 | (place < count ? UInt32(bytes[index + place]) : 0) }
      for place in 0..<4 {
        text.append(place <= count ? alphabet[Int(group >> (18 - 6 * UInt32(place)) & 63)] : 0x3D)
      }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
