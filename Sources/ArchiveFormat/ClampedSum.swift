extension UInt64 {
  /// Adds what an archive states, and stays at the largest value there is: some sparse files of 2^60 bytes have more together.
  package mutating func add(clamping other: UInt64) {
    let (sum, overflow) = addingReportingOverflow(other)
    self = overflow ? .max : sum
  }
}
