extension [UInt8] {
  /// Appends the bytes of a fixed-width integer, least significant first.
  package mutating func append<Value: FixedWidthInteger & UnsignedInteger>(littleEndian value: Value) {
    var rest = value
    for _ in 0..<(Value.bitWidth / 8) {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
