internal import CLinuxShims

/// Names that nobody can foresee.
package enum RandomName {
  /// Letters and digits of a name.
  package static let byteCount = 12
  package static let letters = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Twelve letters and digits (60 bits).
  package static func make() throws(SystemError) -> [UInt8] {
    var bits: UInt64 = 0
    _ = try unsafe checked("getrandom", starc_random(&bits, 8))
    return (0..<byteCount).map { letters[Int(truncatingIfNeeded: bits >> UInt64(5 * $0)) & 31] }
  }
}
