/// Reads an input as the choices of a program: every input is a valid one, and one that ends goes on with zeros.
struct Choices {
  private let bytes: [UInt8]
  private var position: Int

  init(_ bytes: [UInt8], from position: Int = 0) {
    self.bytes = bytes
    self.position = min(position, bytes.count)
  }

  /// There are bytes left.
  var hasMore: Bool { position < bytes.count }

  /// The next byte; 0 at the end.
  mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  /// 0..<bound, for bounds up to 65,536.
  mutating func below(_ bound: Int) -> Int {
    guard bound > 1 else { return 0 }
    let value = bound > 256 ? Int(byte()) << 8 | Int(byte()) : Int(byte())
    return value % bound
  }

  /// True once in so many values; never at the end of the input.
  mutating func chance(oneIn count: Int) -> Bool { below(count) == count - 1 }

  mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

  /// So many bytes, fewer at the end of the input.
  mutating func take(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, position + count)
    defer { position = end }
    return Array(bytes[position..<end])
  }

  /// All that is left.
  mutating func rest() -> [UInt8] { take(bytes.count) }

  /// A number near a limit, or of any magnitude.
  mutating func number() -> UInt64 {
    let low = UInt64(byte())
    switch byte() % 8 {
    case 0: return low
    case 1: return low << 9
    case 2: return 512 &* low &+ UInt64(byte()) &- 128
    case 3: return (1 << (low % 64)) &- UInt64(byte() % 3)
    case 4: return (1 << 60) &+ low &- 128
    case 5: return .max &- low
    case 6: return UInt64(Int64.max) &+ low &- 128
    default: return (0..<7).reduce(low) { value, _ in value << 8 | UInt64(byte()) }
    }
  }
}

/// Sizes of the pieces in which a stream comes: mostly odd ones, some of whole blocks.
struct PieceSizes {
  private var state: UInt64

  init(seed: UInt8) { state = UInt64(seed) &+ 1 }

  mutating func next() -> Int {
    // The constants of Knuth's MMIX generator; its upper bits are good.
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let bits = Int(state >> 33)
    switch bits & 3 {
    case 0: return 1 + (bits >> 2) % 7
    case 1: return 512 * (1 + (bits >> 2) % 4)
    default: return 1 + (bits >> 2) % 1500
    }
  }
}
