internal import ArchiveEngine

/// Writes JSON: the fields of nested objects and arrays, in the order in which they are given.
package struct JSONText {
  /// What was written so far, UTF-8.
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// One object on a line of its own.
  package static func line(_ body: (inout JSONText) -> Void) -> [UInt8] {
    var text = JSONText()
    text.object(body)
    text.bytes.append(0x0A)
    return text.bytes
  }

  /// An object, as a value.
  package mutating func object(_ body: (inout JSONText) -> Void) { nest(0x7B, 0x7D, body) }

  /// An array, as a value.
  package mutating func array(_ body: (inout JSONText) -> Void) { nest(0x5B, 0x5D, body) }

  private mutating func nest(_ open: UInt8, _ close: UInt8, _ body: (inout JSONText) -> Void) {
    comma()
    bytes.append(open)
    needsComma = false
    body(&self)
    bytes.append(close)
    needsComma = true
  }

  private mutating func comma() {
    if needsComma { bytes.append(0x2C) }
    needsComma = true
  }

  /// The name of the next value.
  package mutating func name(_ name: String) {
    comma()
    quote(Array(name.utf8))
    bytes.append(0x3A)
    needsComma = false
  }

  // MARK: Values

  /// Text.
  package mutating func value(_ text: String) {
    comma()
    quote(Array(text.utf8))
  }

  /// A whole number.
  package mutating func value(_ number: some FixedWidthInteger) {
    comma()
    bytes.append(contentsOf: String(number).utf8)
  }

  /// True or false.
  package mutating func value(_ flag: Bool) {
    comma()
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  /// Null.
  package mutating func null() {
    comma()
    bytes.append(contentsOf: "null".utf8)
  }

  // MARK: Fields

  /// A field with text, null for nil.
  package mutating func field(_ name: String, _ text: String?) {
    self.name(name)
    if let text { value(text) } else { null() }
  }

  /// A field with a number, null for nil.
  package mutating func field(_ name: String, _ number: (some FixedWidthInteger)?) {
    self.name(name)
    if let number { value(number) } else { null() }
  }

  /// A field with true or false.
  package mutating func field(_ name: String, _ flag: Bool) {
    self.name(name)
    value(flag)
  }

  /// A field with seconds, to the millisecond.
  package mutating func field(_ name: String, seconds duration: Duration) {
    self.name(name)
    comma()
    let (seconds, attoseconds) = duration.components
    let milliseconds = max(0, attoseconds / 1_000_000_000_000_000)
    bytes.append(contentsOf: "\(max(0, seconds)).\(String(milliseconds + 1000).dropFirst())".utf8)
  }

  /// A name of bytes: as text with U+FFFD for what is not UTF-8, and then also exactly, as `NAMEBase64`.
  package mutating func field(_ name: String, lossy raw: [UInt8]) {
    self.name(name)
    if let text = String(validating: raw, as: UTF8.self) {
      value(text)
    } else {
      value(String(decoding: raw, as: UTF8.self))
      field(name + "Base64", Base64Text.encode(raw))
    }
  }

  /// The text has to be UTF-8.
  private mutating func quote(_ text: [UInt8]) {
    bytes.append(0x22)
    for byte in text {
      switch byte {
      case 0x22, 0x5C:
        bytes.append(0x5C)
        bytes.append(byte)
      case 0x0A: bytes.append(contentsOf: [0x5C, 0x6E])
      case 0x09: bytes.append(contentsOf: [0x5C, 0x74])
      case 0x0D: bytes.append(contentsOf: [0x5C, 0x72])
      case 0..<0x20, 0x7F:
        bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(0x22)
  }
}
