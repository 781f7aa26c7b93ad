import ArchiveFormat
import TestSupport
import Testing

@testable import ArchiveEngine

/// The other witness lies: the tar header, or what follows it, is changed and everything that hashes it made to fit.
@Suite(.inTemporaryDirectory(.memory)) struct TarForgeryTests {
  /// A change of the tar stream alone; sizes stay.
  struct Row: Sendable, CustomTestStringConvertible {
    enum Place: Sendable {
      /// An offset in the member's own header block.
      case field(Int)
      /// The first place of this text in the member's headers.
      case text(String)
      /// An offset in the data.
      case data(Int)
    }

    var name: String
    var path: String
    var place: Place
    var bytes: String
    var values: [String]
    /// The member's name in the tar afterwards, when that is what was changed.
    var newPath: String?
    var testDescription: String { "\(name) of \(path)" }
  }

  static let rows = [
    Row(name: "path", path: "d/b", place: .field(0), bytes: "d/c", values: ["d/b", "d/c"], newPath: "d/c"),
    Row(name: "type", path: "d/fifo", place: .field(156), bytes: "5", values: ["fifo", "directory"]),
    Row(name: "type", path: "d/link", place: .field(156), bytes: "6", values: ["symlink", "fifo"]),
    Row(name: "mode", path: "d/b", place: .field(100), bytes: "0004755", values: ["4755", "644"]),
    Row(name: "mode", path: "d", place: .field(100), bytes: "0000777", values: ["777", "755"]),
    Row(name: "size", path: "d/b", place: .field(124), bytes: "00000001127", values: ["600", "599"]),
    Row(name: "size", path: "d/b", place: .field(124), bytes: "00000001131", values: ["600", "601"]),
    Row(name: "target", path: "d/link", place: .field(157), bytes: "targex", values: ["target", "targex"]),
    Row(name: "target", path: "d/z", place: .field(157), bytes: "d/b", values: ["d/a", "d/b"]),
    Row(name: "user", path: "d/b", place: .field(108), bytes: "0000000", values: ["1234", "0"]),
    Row(name: "group", path: "d/b", place: .text("3000000"), bytes: "3000001", values: ["3000000", "3000001"]),
    Row(name: "user name", path: "d/b", place: .field(265), bytes: "eve", values: ["ada", "eve"]),
    Row(name: "group name", path: "d/b", place: .field(297), bytes: "stuff", values: ["staff", "stuff"]),
    Row(name: "time", path: "d/b", place: .text("123456789"), bytes: "123456780", values: ["123456789", "123456780"]),
    Row(name: "device", path: "d/null", place: .field(337), bytes: "0000007", values: ["1:3", "1:7"]),
    Row(
      name: "attribute", path: "d/a", place: .text("hello"), bytes: "jello", values: ["user.note", "hello", "jello"]),
    Row(
      name: "attribute name", path: "d/a", place: .text("user.note"), bytes: "user.nope",
      values: ["user.note", "hello", "missing"]),
    Row(name: "ACL", path: "d/a", place: .text("user::rw-"), bytes: "user::r--", values: ["user::rw-", "user::r--"]),
    Row(
      name: "default ACL", path: "d", place: .text("user::rwx"), bytes: "user::r-x", values: ["user::rwx", "user::r-x"]),
    Row(
      name: "extents", path: "s/holes", place: .text("65536"), bytes: "61440",
      values: ["data region 1", "65536", "61440"]),
    Row(name: "content", path: "d/b", place: .data(599), bytes: "x", values: ["content hash", "index states"]),
    Row(name: "content", path: "s/holes", place: .data(5), bytes: "xxx", values: ["content hash", "index states"]),
    Row(name: "content", path: "big", place: .data(150_000), bytes: "xxxx", values: ["content hash", "index states"]),
    Row(name: "mode of a large file", path: "big", place: .field(100), bytes: "0000600", values: ["600", "644"]),
    Row(name: "checksum", path: "d/fifo", place: .field(148), bytes: "000000", values: ["checksum is 0"]),
  ]

  /// Right checksums for all headers but those whose checksum itself was changed.
  private static func repair(_ tar: inout [UInt8], _ range: Range<Int>) {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 512)
    where tar[start + 257..<start + 262].elementsEqual("ustar".utf8) {
      var sum = 8 * 32
      for place in start..<(start + 512) where !((start + 148)..<(start + 156)).contains(place) {
        sum += Int(tar[place])
      }
      let digits = String(sum, radix: 8)
      let text = String(repeating: "0", count: 6 - digits.count) + digits + "\u{0} "
      tar.replaceSubrange(start + 148..<start + 156, with: text.utf8)
    }
  }

  @Test(arguments: rows) func aForgedHeaderIsFound(row: Row) throws {
    var kind: MemberKind?
    let original = try ForgeryTests.archive()
    let bytes = try Forgery.archive(
      original,
      changeTar: { page, tar in
        for (member, offset) in zip(page.members, page.headerOffsets)
        where member.member.path.elementsEqual(row.path.utf8) {
          kind = member.member.kind
          // Of a large member the chunks with its beginning may belong to an earlier page; these archives are small.
          let header = Int(offset)..<Int(offset) + Int(member.headerByteCount)
          let place: Int
          switch row.place {
          case .field(let field): place = try #require(Self.ownBlock(tar, header)) + field
          case .text(let text):
            let wanted = Array(text.utf8)
            place = try #require(header.first { tar[$0..<min(tar.count, $0 + wanted.count)].elementsEqual(wanted) })
          case .data(let offset): place = header.upperBound + offset
          }
          tar.replaceSubrange(place..<place + row.bytes.utf8.count, with: row.bytes.utf8)
          if row.name != "checksum" { Self.repair(&tar, header) }
        }
      })
    let isFile = try #require(kind, "the forged member is not in the archive") == .file
    try Witnesses(bytes, original: original, isReadable: row.name != "checksum").expectRefused(
      row.newPath ?? row.path, row.path, isFile: isFile, values: row.values)
  }

  /// The last header block of a member that is none of an extended header.
  private static func ownBlock(_ tar: [UInt8], _ header: Range<Int>) -> Int? {
    let extended: Set<UInt8> = [0x78, 0x67, 0x4C, 0x4B]
    var found: Int?
    for start in stride(from: header.lowerBound, to: header.upperBound, by: 512) {
      let isHeader = tar[(start + 257)..<(start + 262)].elementsEqual("ustar".utf8)
      if isHeader, !extended.contains(tar[start + 156]) { found = start }
    }
    return found
  }
}
