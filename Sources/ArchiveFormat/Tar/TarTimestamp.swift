/// Times as pax records write them: decimal seconds with an optional sign and fraction.
enum TarTimestamp {
  /// Bytes that ``append(_:to:)`` writes.
  static func byteCount(_ time: Timestamp) -> Int {
    let parts = Parts(time)
    var count = TarBytes.decimalDigitCount(parts.whole) + (parts.isNegative ? 1 : 0)
    if parts.fraction != 0 { count += 1 + parts.fractionDigitCount }
    return count
  }

  /// "1", "-1", "0.5", "-0.5": up to nine digits after the point, without trailing zeros.
  static func append(_ time: Timestamp, to out: inout [UInt8]) {
    let parts = Parts(time)
    if parts.isNegative { out.append(0x2D) }
    TarBytes.appendDecimal(parts.whole, to: &out)
    guard parts.fraction != 0 else { return }
    out.append(0x2E)
    var divisor: UInt32 = 100_000_000
    for _ in 0..<parts.fractionDigitCount {
      out.append(0x30 + UInt8(truncatingIfNeeded: parts.fraction / divisor % 10))
      divisor /= 10
    }
  }

  /// Sign and magnitude of a time; the fraction of a negative time counts away from zero in this form.
  private struct Parts {
    var isNegative: Bool
    var whole: UInt64
    var fraction: UInt32

    init(_ time: Timestamp) {
      isNegative = time.seconds < 0
      let nanoseconds = min(time.nanoseconds, 999_999_999)
      if isNegative, nanoseconds > 0 {
        whole = (time.seconds + 1).magnitude
        fraction = 1_000_000_000 - nanoseconds
      } else {
        whole = time.seconds.magnitude
        fraction = nanoseconds
      }
    }

    var fractionDigitCount: Int {
      var count = 9
      var rest = fraction
      while count > 1, rest % 10 == 0 {
        rest /= 10
        count -= 1
      }
      return count
    }
  }

  /// Reads a pax time. Digits after the ninth are cut towards the past, as GNU tar does.
  ///
  /// - Returns: nil when it is no time; `isClamped` when the seconds do not fit in Int64.
  static func parse(_ bytes: Span<UInt8>) -> (time: Timestamp, isClamped: Bool)? {
    var index = 0
    let isNegative = bytes.count > 0 && bytes[0] == 0x2D
    if isNegative { index = 1 }
    let wholeStart = index
    var whole: UInt64 = 0
    var isTooLarge = false
    while index < bytes.count, (0x30...0x39).contains(bytes[index]) {
      let (product, isOver) = whole.multipliedReportingOverflow(by: 10)
      let (sum, isOverSum) = product.addingReportingOverflow(UInt64(bytes[index] - 0x30))
      isTooLarge = isTooLarge || isOver || isOverSum
      whole = sum
      index += 1
    }
    guard index > wholeStart else { return nil }
    var nanoseconds: UInt32 = 0
    var hasMore = false
    if index < bytes.count {
      guard bytes[index] == 0x2E else { return nil }
      index += 1
      var digitCount = 0
      while index < bytes.count {
        guard (0x30...0x39).contains(bytes[index]) else { return nil }
        let digit = UInt32(bytes[index] - 0x30)
        if digitCount < 9 {
          nanoseconds = nanoseconds * 10 + digit
          digitCount += 1
        } else if digit != 0 {
          hasMore = true
        }
        index += 1
      }
      while digitCount < 9 {
        nanoseconds *= 10
        digitCount += 1
      }
    }
    return compose(isNegative, whole, nanoseconds, hasMore: hasMore, isTooLarge: isTooLarge)
  }

  private static func compose(
    _ isNegative: Bool, _ whole: UInt64, _ nanoseconds: UInt32, hasMore: Bool, isTooLarge: Bool
  ) -> (time: Timestamp, isClamped: Bool) {
    let latest = Timestamp(seconds: .max, nanoseconds: 999_999_999)
    let earliest = Timestamp(seconds: .min)
    guard isNegative else {
      guard !isTooLarge, let seconds = Int64(exactly: whole) else { return (latest, true) }
      return (Timestamp(seconds: seconds, nanoseconds: nanoseconds), false)
    }
    guard !isTooLarge, whole <= Int64.min.magnitude else { return (earliest, true) }
    // Exact for the whole range: 2^63 wraps to Int64.min.
    let seconds = Int64(truncatingIfNeeded: 0 &- whole)
    let down = nanoseconds + (hasMore ? 1 : 0)
    guard down > 0 else { return (Timestamp(seconds: seconds), false) }
    guard seconds > .min else { return (earliest, true) }
    return (Timestamp(seconds: seconds - 1, nanoseconds: 1_000_000_000 - down), false)
  }
}
