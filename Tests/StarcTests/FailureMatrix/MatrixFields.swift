/// Every numeric field with everything that it should not hold.
extension FailureMatrix {
  private struct Field {
    var name: String
    var says: String
    var offset: Int
    var width: Int
    var type: Character = "0"
    /// Values that refuse the member, by their names below.
    var refuses: Set<String>
    /// Values that are accepted and said.
    var notes: Set<String> = []
  }

  private static let noNumbers: Set<String> = ["letters", "a digit 9", "a minus", "a plus"]
  private static let header: [Field] = [
    Field(name: "mode", says: "mode", offset: 100, width: 8, refuses: noNumbers),
    Field(
      name: "user ID", says: "user ID", offset: 108, width: 8, refuses: noNumbers.union(["-1 in base 256"]),
      notes: ["huge in base 256"]),
    Field(
      name: "group ID", says: "group ID", offset: 116, width: 8, refuses: noNumbers.union(["-1 in base 256"]),
      notes: ["huge in base 256"]
    ),
    Field(name: "time", says: "time", offset: 136, width: 12, refuses: noNumbers, notes: ["huge in base 256"]),
    Field(
      name: "major number", says: "major device number", offset: 329, width: 8, type: "3",
      refuses: noNumbers.union(["-1 in base 256", "huge in base 256"])),
    Field(
      name: "minor number", says: "minor device number", offset: 337, width: 8, type: "4",
      refuses: noNumbers.union(["-1 in base 256", "huge in base 256"])),
  ]

  private static func values(_ width: Int) -> [(String, [UInt8])] {
    func text(_ text: String) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0, count: max(0, width - text.utf8.count))
    }
    return [
      ("-1 in base 256", [UInt8](repeating: 0xFF, count: width)),
      ("huge in base 256", [0x80] + [UInt8](repeating: 0x7F, count: width - 1)), ("letters", text("junk")),
      ("a digit 9", text(String(repeating: "0", count: width - 2) + "9")), ("a minus", text("-1")),
      ("a plus", text("+1")), ("blanks", [UInt8](repeating: 0x20, count: width)),
      ("NULs", [UInt8](repeating: 0, count: width)), ("sevens", [UInt8](repeating: 0x37, count: width)),
      ("blanks before", text("  1 ")), ("two numbers", text("1 7")),
    ]
  }

  static let fields: [FailureMode] = {
    var cases: [FailureMode] = []
    cases += header.flatMap { field -> [FailureMode] in
      values(field.width).map { value, bytes -> FailureMode in
        let name = "\(field.name): \(value)"
        let member = Tar.entry("n", type: field.type) { $0.patches = [(field.offset, Bytes(bytes))] }
        if field.refuses.contains(value) {
          return refused(name, says: field.says, [], member)
        }
        // Device nodes are left out as a rule.
        if field.type != "0" { return accepted(name, status: 1, says: "device node", [], member) }
        return accepted(name, status: field.notes.contains(value) ? 1 : 0, ["n="], member)
      }
    }
    let behind: [UInt8] = [0] + [UInt8](repeating: 0x31, count: 10) + [0]
    let sizes: [(String, [UInt8])] = values(12) + [("a number behind a NUL", behind)]
    cases += sizes.map {
      value, bytes in
      let member = Tar.entry("n") { $0.patches = [(124, Bytes(bytes))] }
      if value == "blanks" || value == "NULs" { return accepted("size: \(value)", ["n="], member) }
      return damaged("size: \(value)", says: "", member)
    }
    return cases
  }()
  /// The sum of a header's bytes, its checksum taken as blanks.
  private static func sum(_ block: [UInt8], isSigned: Bool = false) -> Int {
    var sum = 8 * 32
    for (place, byte) in block.enumerated() where place < 148 || place >= 156 {
      sum += isSigned ? Int(Int8(bitPattern: byte)) : Int(byte)
    }
    return sum
  }

  private static func checksum(_ text: (Int) -> [UInt8]) -> [UInt8] {
    var block = Tar.Header(name: "n").block
    block.replaceSubrange(148..<156, with: text(sum(block)))
    return block
  }

  static let checksums: [FailureMode] = [
    accepted("checksum of eight digits", ["n="], checksum { Tar.octal(UInt64($0), 8) }),
    accepted("checksum with blanks before", ["n="], checksum { [0x20] + Tar.octal(UInt64($0), 5) + [0, 0x20] }),
    damaged("checksum one too high", says: "checksum", checksum { Tar.octal(UInt64($0 + 1), 6) + [0, 0x20] }),
    damaged("checksum of blanks", says: "checksum", checksum { _ in [UInt8](repeating: 0x20, count: 8) }),
    damaged("checksum of NULs", says: "checksum", checksum { _ in [UInt8](repeating: 0, count: 8) }),
    damaged("checksum -1 in base 256", says: "checksum", checksum { _ in [UInt8](repeating: 0xFF, count: 8) }),
    damaged("garbage between members", says: "checksum", [UInt8](repeating: 0x67, count: 512)),
    .accepted("checksum of signed bytes", makes: ["\u{e9}="]) { _ in
      var block = Tar.Header(name: "\u{e9}").block
      block.replaceSubrange(148..<156, with: Tar.octal(UInt64(sum(block, isSigned: true)), 6) + [0, 0x20])
      return [block]
    },
  ]
}
