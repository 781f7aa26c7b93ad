extension [UInt8] {
  /// Appends the bytes of a fixed-width integer, least significant first.
  mutating func append<Value: FixedWidthInteger & UnsignedInteger>(littleEndian value: Value) {
    var rest = value
    for _ in 0..<(Value.bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  /// Appends a varint: groups of 7 bits, least significant first, the top bit set on all but the last byte.
  mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a byte string: length as varint, then the bytes.
  mutating func append(string: [UInt8]) {
    append(varint: UInt64(string.count))
    append(contentsOf: string)
  }
}

extension Int64 {
  /// 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
  var zigzag: UInt64 { UInt64(bitPattern: (self &<< 1) ^ (self &>> 63)) }

  /// The inverse of ``zigzag``.
  init(zigzag value: UInt64) { self = Int64(bitPattern: value &>> 1) ^ -Int64(bitPattern: value & 1) }
}

/// A reading position in untrusted bytes; the bytes themselves are passed to each call.
struct IndexCursor {
  /// Where the next read begins.
  private(set) var offset: Int
  /// Where the readable bytes end.
  let end: Int

  init(_ range: Range<Int>) {
    self.offset = range.lowerBound
    self.end = range.upperBound
  }

  /// Bytes that are left.
  var remaining: Int { end - offset }

  func failure(_ code: FormatError.Code, _ message: String) -> FormatError {
    FormatError(code, message, offset: UInt64(offset))
  }

  mutating func byte(_ bytes: Span<UInt8>) throws(FormatError) -> UInt8 {
    guard offset < end else { throw failure(.truncated, "the bytes end inside a structure") }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// Takes `count` bytes.
  mutating func take(_ count: Int) throws(FormatError) -> Range<Int> {
    guard count >= 0, count <= remaining else { throw failure(.truncated, "the bytes end inside a structure") }
    defer { offset += count }
    return offset..<(offset + count)
  }

  mutating func littleEndian<Value: FixedWidthInteger & UnsignedInteger>(
    _ bytes: Span<UInt8>, as type: Value.Type
  ) throws(FormatError) -> Value {
    let range = try take(Value.bitWidth / 8)
    var value: Value = 0
    for index in range.reversed() { value = value << 8 | Value(bytes[index]) }
    return value
  }

  /// Reads a varint in its shortest form, not above `limit`.
  mutating func varint(
    _ bytes: Span<UInt8>, upTo limit: UInt64 = .max, _ name: StaticString
  ) throws(FormatError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    let start = offset
    while true {
      let next = try byte(bytes)
      if shift == 63, next > 1 { throw failure(.malformed, "\(name): number of more than 64 bits") }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        guard next != 0 || shift == 0 else { throw failure(.malformed, "\(name): number not in its shortest form") }
        break
      }
      shift += 7
    }
    guard value <= limit else {
      throw FormatError(.limitExceeded, "\(name): \(value) exceeds \(limit)", offset: UInt64(start))
    }
    return value
  }

  /// Reads a varint that counts things of at least `minimumByteCount` bytes each, which still have to follow.
  mutating func count(
    _ bytes: Span<UInt8>, upTo limit: Int, minimumByteCount: Int = 1, _ name: StaticString
  ) throws(FormatError) -> Int {
    let value = Int(try varint(bytes, upTo: UInt64(limit), name))
    guard value <= remaining / minimumByteCount else {
      throw failure(.truncated, "\(name): \(value) announced, but only \(remaining) bytes follow")
    }
    return value
  }

  /// Reads a byte string: its length, not above `limit`, and its bytes.
  mutating func string(
    _ bytes: Span<UInt8>, upTo limit: Int, _ name: StaticString
  ) throws(FormatError) -> [UInt8] {
    let range = try take(try count(bytes, upTo: limit, name))
    return [UInt8](copying: bytes, range)
  }

  /// Checks that everything has been read.
  func finish() throws(FormatError) {
    guard remaining == 0 else { throw failure(.malformed, "\(remaining) bytes too many") }
  }
}

extension [UInt8] {
  /// A copy of a part of a span. `range` lies within the span.
  init(copying bytes: Span<UInt8>, _ range: Range<Int>) {
    self = unsafe bytes.withUnsafeBufferPointer { buffer in
      // Safe: rebasing traps when the range leaves the buffer, and the copy does not keep the pointer.
      unsafe [UInt8](UnsafeBufferPointer(rebasing: buffer[range]))
    }
  }

  /// The first `shared` bytes of `previous`, then a part of a span.
  init(sharing shared: Int, of previous: [UInt8], then bytes: Span<UInt8>, _ range: Range<Int>) {
    self.init()
    reserveCapacity(shared + range.count)
    append(contentsOf: previous.prefix(shared))
    unsafe bytes.withUnsafeBufferPointer { buffer in
      // Safe: as above.
      unsafe append(contentsOf: UnsafeBufferPointer(rebasing: buffer[range]))
    }
  }
}
