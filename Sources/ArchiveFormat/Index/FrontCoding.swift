/// Byte strings that are stored as what they share with the string before them, and the rest: three columns of
/// shared lengths, rest lengths and rests.
enum FrontCoding {
  /// Collects strings and writes their columns.
  struct Encoder {
    private var shared: [UInt8] = []
    private var lengths: [UInt8] = []
    private var rests: [UInt8] = []
    private var previous: [UInt8] = []

    mutating func add(_ string: [UInt8]) {
      let common = FrontCoding.commonByteCount(previous, string)
      shared.append(varint: UInt64(common))
      lengths.append(varint: UInt64(string.count - common))
      rests.append(contentsOf: string[common...])
      previous = string
    }

    func append(to out: inout [UInt8]) {
      out.append(contentsOf: shared)
      out.append(contentsOf: lengths)
      out.append(contentsOf: rests)
    }
  }

  static func commonByteCount(_ left: [UInt8], _ right: [UInt8]) -> Int {
    let (first, second) = (left.span, right.span)
    let limit = min(first.count, second.count)
    var index = 0
    while index < limit, first[index] == second[index] { index += 1 }
    return index
  }

  /// Reads `count` strings and subtracts their full lengths from `budget`, the bytes that may still be produced, and from `memory` what they take.
  static func decode(
    _ bytes: Span<UInt8>, _ cursor: inout IndexCursor, count: Int, budget: inout Int,
    memory: inout PageMemory, _ name: StaticString
  ) throws(FormatError) -> [[UInt8]] {
    try memory.take(count * (2 * MemoryLayout<Int>.stride + MemoryLayout<[UInt8]>.stride))
    var shared: [Int] = []
    shared.reserveCapacity(count)
    for _ in 0..<count {
      shared.append(Int(try cursor.varint(bytes, upTo: UInt64(IndexLimits.pageByteCount), name)))
    }
    var lengths: [Int] = []
    lengths.reserveCapacity(count)
    for _ in 0..<count {
      lengths.append(Int(try cursor.varint(bytes, upTo: UInt64(IndexLimits.pageByteCount), name)))
    }
    var strings: [[UInt8]] = []
    strings.reserveCapacity(count)
    var previous: [UInt8] = []
    for index in 0..<count {
      let (common, length) = (shared[index], lengths[index])
      guard common <= previous.count else {
        throw cursor.failure(.malformed, "\(name) shares \(common) of \(previous.count) bytes")
      }
      guard common + length <= budget else {
        throw cursor.failure(.limitExceeded, "\(name): more than \(IndexLimits.pageByteCount) bytes in a page")
      }
      budget -= common + length
      try memory.takeString(common + length)
      let range = try cursor.take(length)
      if length > 0, common < previous.count, bytes[range.lowerBound] == previous[common] {
        throw cursor.failure(.malformed, "\(name) shares more bytes than it says")
      }
      previous = [UInt8](sharing: common, of: previous, then: bytes, range)
      strings.append(previous)
    }
    return strings
  }
}
