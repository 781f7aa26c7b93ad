/// Sizes for people, and sizes that people type.
package enum SizeText {
  /// "1.4 GB", decimal units as disks and networks use them; three digits or so.
  package static func decimal(_ byteCount: UInt64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
    guard byteCount >= 1000 else { return "\(byteCount) B" }
    var (unit, size) = (0, UInt64(1000))
    // Rounded to tenths: 999,950 is 1.0 MB already. Safe: size * 1000 is at most 10^18 in the loop.
    while unit < units.count - 1, byteCount >= size * 1000 - size / 20 { (unit, size) = (unit + 1, size * 1000) }
    let tenth = size / 10
    let tenths = byteCount / tenth + (byteCount % tenth >= tenth / 2 ? 1 : 0)
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// "78,000".
  package static func grouped(_ number: UInt64) -> String {
    var digits = Array(String(number))
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return String(digits)
  }

  /// Digits with an optional K, M, G or T (powers of 1024; "KiB" and small letters too). Nil if it is not that or too large.
  package static func parse(_ text: String) -> UInt64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = UInt64(digits) else { return nil }
    let shift: UInt64
    switch text.dropFirst(digits.count).uppercased() {
    case "", "B": shift = 0
    case "K", "KIB": shift = 10
    case "M", "MIB": shift = 20
    case "G", "GIB": shift = 30
    case "T", "TIB": shift = 40
    default: return nil
    }
    let (size, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    return overflow ? nil : size
  }
}
