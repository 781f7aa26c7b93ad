/// Numbers for people: three digits or so, whatever the size.
package enum NumberText {
  /// "3.70 s", "86.1 ms", "42 µs".
  package static func seconds(_ seconds: Double) -> String {
    let magnitude = abs(seconds)
    if magnitude >= 1 { return digits(seconds) + " s" }
    if magnitude >= 0.001 { return digits(seconds * 1e3) + " ms" }
    return digits(seconds * 1e6) + " µs"
  }

  /// "604 MB", decimal units.
  package static func bytes(_ count: Double) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"]
    var (value, unit) = (count, 0)
    while abs(value) >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return (unit == 0 ? whole(value) : digits(value)) + " " + units[unit]
  }

  /// "604 MB/s".
  package static func rate(_ bytesPerSecond: Double) -> String { bytes(bytesPerSecond) + "/s" }

  /// "78,600".
  package static func count(_ number: Double) -> String {
    let text = whole(number)
    var grouped = ""
    for (index, digit) in text.enumerated() {
      let rest = text.count - index
      if index > 0, rest % 3 == 0, grouped != "-" { grouped += "," }
      grouped.append(digit)
    }
    return grouped
  }

  /// "1.20 ×".
  package static func ratio(_ ratio: Double) -> String { digits(ratio) + " ×" }

  /// "3.1 %", with a sign when asked for.
  package static func percent(_ percent: Double, signed: Bool = false) -> String {
    let text = fixed(percent, abs(percent) >= 99.95 ? 0 : abs(percent) < 0.995 ? 2 : 1)
    let isZero = !text.contains { ("1"..."9").contains($0) }
    return (signed && percent > 0 && !isZero ? "+" : "") + (isZero ? "0" : text) + " %"
  }

  /// Three significant digits, none behind the point from 100 on.
  package static func digits(_ number: Double) -> String {
    let magnitude = abs(number)
    return fixed(number, magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2)
  }

  private static func whole(_ number: Double) -> String { fixed(number, 0) }

  /// So many digits behind the point.
  package static func fixed(_ number: Double, _ places: Int) -> String {
    guard number.isFinite, abs(number) < 9e15 else { return number.isNaN ? "-" : String(number) }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = (abs(number) * scale).rounded()
    guard scaled < 9e18 else { return String(number) }
    let digits = String(UInt64(scaled))
    let sign = number < 0 && scaled > 0 ? "-" : ""
    if places == 0 { return sign + digits }
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    return sign + padded.dropLast(places) + "." + padded.suffix(places)
  }
}
