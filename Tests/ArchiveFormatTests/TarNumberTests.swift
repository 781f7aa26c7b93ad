import Testing

@testable import ArchiveFormat

/// Numbers at the edges of what fits, in each form that tar knows.
@Suite struct TarNumberTests {
  @Test func base256() {
    func field(_ bytes: [UInt8]) -> TarNumber.Field { TarNumber.field(bytes.span) }
    let rest = [UInt8](repeating: 0xFF, count: 7)
    let zeros = [UInt8](repeating: 0, count: 7)
    #expect(field([0x80, 0, 0, 0, 0x7F] + rest) == .value(.max))
    // 2^63 and the number below -2^63 are one too far.
    #expect(field([0x80, 0, 0, 0, 0x80] + zeros) == .tooLarge)
    #expect(field([0xFF, 0xFF, 0xFF, 0xFF, 0x80] + zeros) == .value(.min))
    #expect(field([0xFF, 0xFF, 0xFF, 0xFF, 0x7F] + rest) == .tooLarge)
    #expect(field([0x80, 0, 0, 1, 0] + zeros) == .tooLarge)
    #expect(field([0xFF, 0xFF, 0xFF, 0xFF, 0xFF] + rest) == .value(-1))
    #expect(field([0x80] + [UInt8](repeating: 0, count: 11)) == .value(0))
  }

  @Test func decimal() {
    func decimal(_ text: String) -> UInt64? { TarNumber.decimal(Array(text.utf8).span) }
    #expect(decimal("18446744073709551615") == .max)
    for wrong in [
      "18446744073709551616", "18446744073709551620", "99999999999999999999", "", "-1", "+1", " 1", "1 ", "1a",
    ] {
      #expect(decimal(wrong) == nil, "\(wrong)")
    }
  }

  @Test func octal() {
    func field(_ text: String) -> TarNumber.Field { TarNumber.field(Array(text.utf8).span) }
    #expect(
      field("0000644\u{0}") == .value(0o644) && field("  17 ") == .value(15)
        && field("777777777777") == .value(0o777777777777))
    for wrong in ["8", "19", "-1", "1-", "0x1", "a"] { #expect(field(wrong) == .malformed, "\(wrong)") }
  }
}
