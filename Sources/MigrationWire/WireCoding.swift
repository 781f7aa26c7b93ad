/// Why a message is not understood. The sender is then not to be trusted with anything further.
public struct WireError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, as a clause.
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Builds a message: little-endian numbers, strings with their length before them.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  mutating func bool(_ value: Bool) { bytes.append(value ? 1 : 0) }

  mutating func number<Value: FixedWidthInteger>(_ value: Value) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  mutating func string(_ value: [UInt8]) {
    number(UInt32(value.count))
    bytes += value
  }

  mutating func text(_ value: String) { string(Array(value.utf8)) }

  mutating func list<Element>(_ values: [Element], _ write: (inout WireWriter, Element) -> Void) {
    number(UInt32(values.count))
    for value in values { write(&self, value) }
  }
}

/// Takes a message apart; everything is checked against the bytes that are there.
struct WireReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private mutating func take(_ count: Int) throws(WireError) -> Range<Int> {
    guard count >= 0, count <= bytes.count - position else { throw WireError("a message ends too early") }
    defer { position += count }
    return position..<position + count
  }

  mutating func byte() throws(WireError) -> UInt8 { bytes[try take(1).lowerBound] }

  mutating func bool() throws(WireError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default: throw WireError("a message holds a truth value that is none")
    }
  }

  mutating func number<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(WireError) -> Value {
    var value = Value.zero
    for (index, position) in try take(MemoryLayout<Value>.size).enumerated() {
      value |= Value(truncatingIfNeeded: bytes[position]) << Value(index * 8)
    }
    return value
  }

  mutating func string() throws(WireError) -> [UInt8] {
    let count = Int(try number(UInt32.self))
    return Array(bytes[try take(count)])
  }

  mutating func text() throws(WireError) -> String {
    guard let text = String(validating: try string(), as: UTF8.self) else {
      throw WireError("a message holds text that is not UTF-8")
    }
    return text
  }

  /// - Parameter limit: more elements than that are refused.
  mutating func list<Element>(
    upTo limit: Int = 4096, _ read: (inout WireReader) throws(WireError) -> Element
  ) throws(WireError) -> [Element] {
    let count = Int(try number(UInt32.self))
    guard count <= limit else { throw WireError("a message holds a list of \(count) elements") }
    var values: [Element] = []
    for _ in 0..<count { values.append(try read(&self)) }
    return values
  }

  func end() throws(WireError) {
    if position != bytes.count { throw WireError("a message is longer than its kind") }
  }
}
