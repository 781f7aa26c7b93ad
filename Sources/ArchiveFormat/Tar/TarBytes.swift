/// Small operations on runs of bytes that the tar code needs in many places.
enum TarBytes {
  /// Appends a copy of the bytes.
  static func append(_ bytes: Span<UInt8>, to out: inout [UInt8]) {
    // Safe: the buffer is only read while the span is borrowed.
    unsafe bytes.withUnsafeBufferPointer { unsafe out.append(contentsOf: $0) }
  }

  /// A copy of the bytes.
  static func array(_ bytes: Span<UInt8>) -> [UInt8] {
    // Safe: the buffer is only read while the span is borrowed.
    unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
  }

  static func array(_ literal: StaticString) -> [UInt8] {
    var out: [UInt8] = []
    append(literal, to: &out)
    return out
  }

  static func append(_ literal: StaticString, to out: inout [UInt8]) {
    // Safe: a literal lives as long as the process. All literals here are ASCII with a pointer representation.
    unsafe out.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  static func hasPrefix(_ bytes: Span<UInt8>, _ literal: StaticString) -> Bool {
    let count = literal.utf8CodeUnitCount
    guard bytes.count >= count else { return false }
    for index in 0..<count {
      // Safe: index is below the length of the literal.
      guard unsafe bytes[index] == literal.utf8Start[index] else { return false }
    }
    return true
  }

  static func equals(_ bytes: Span<UInt8>, _ literal: StaticString) -> Bool {
    bytes.count == literal.utf8CodeUnitCount && hasPrefix(bytes, literal)
  }

  static func equals(_ bytes: Span<UInt8>, _ other: [UInt8]) -> Bool {
    guard bytes.count == other.count else { return false }
    for index in 0..<other.count where bytes[index] != other[index] { return false }
    return true
  }

  /// How many zero bytes the run begins with.
  static func leadingZeroCount(_ bytes: Span<UInt8>) -> Int {
    var index = 0
    while index < bytes.count, bytes[index] == 0 { index += 1 }
    return index
  }

  static func contains(_ byte: UInt8, in bytes: Span<UInt8>) -> Bool { firstIndex(of: byte, in: bytes) != nil }

  static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>) -> Int? {
    for index in 0..<bytes.count where bytes[index] == byte { return index }
    return nil
  }

  static func isUTF8(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }

  /// Byte-wise order, as memcmp and then the length give it.
  static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }

  static func decimalDigitCount(_ value: UInt64) -> Int {
    var count = 1
    var rest = value
    while rest >= 10 {
      rest /= 10
      count += 1
    }
    return count
  }

  static func appendDecimal(_ value: UInt64, to out: inout [UInt8]) {
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var start = 20
    var rest = value
    repeat {
      start -= 1
      digits[start] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
      rest /= 10
    } while rest > 0
    for index in start..<20 { out.append(digits[index]) }
  }
}
