package import ArchiveFormat

/// Times for people. Always UTC: a list is the same everywhere, and no time zone data are needed.
package enum TimeText {
  /// "YYYY-MM-DD HH:MM".
  package static func minute(_ time: Timestamp) -> String {
    let days = floorDivide(time.seconds, 86_400)
    // Not `seconds - days * 86,400`: at the smallest 64-bit time the product is too large.
    let remainder = time.seconds % 86_400
    let second = remainder < 0 ? remainder + 86_400 : remainder
    let date = civil(days)
    return
      "\(pad(date.year, 4))-\(pad(date.month, 2))-\(pad(date.day, 2)) \(pad(second / 3600, 2)):\(pad(second / 60 % 60, 2))"
  }

  /// "0:07", "12:30", "3:05:00".
  package static func duration(seconds: UInt64) -> String {
    let rest = Int64(clamping: seconds)
    let (hours, minutes) = (rest / 3600, rest / 60 % 60)
    return hours > 0 ? "\(hours):\(pad(minutes, 2)):\(pad(rest % 60, 2))" : "\(minutes):\(pad(rest % 60, 2))"
  }

  /// "12.3 s".
  package static func seconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let tenths = max(0, attoseconds / 10_000_000_000_000_000)
    return "\(max(0, seconds)).\(pad(tenths, 2)) s"
  }

  /// Gregorian date of a day counted from 1970-01-01: eras of 400 years that begin in March, so that the leap day is the last.
  private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Safe: days are at most 2^63 / 86,400, far from overflow.
    let shifted = day + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let isNextYear = month >= 10
    return (
      yearOfEra + era * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
      dayOfYear - (153 * month + 2) / 5 + 1
    )
  }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }

  private static func pad(_ value: Int64, _ width: Int) -> String {
    let digits = String(value.magnitude)
    let zeros = String(repeating: "0", count: max(0, width - digits.count))
    return (value < 0 ? "-" : "") + zeros + digits
  }
}
