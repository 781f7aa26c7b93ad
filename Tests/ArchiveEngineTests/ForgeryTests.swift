import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

@testable import ArchiveEngine

/// Index and tar headers are two witnesses: a difference in any field is found, whoever reads, and told with both values.
@Suite(.inTemporaryDirectory(.memory)) struct ForgeryTests {
  /// A change of the index alone.
  struct Row: Sendable, CustomTestStringConvertible {
    var field: String
    var path: String
    /// What has to be in the message.
    var values: [String]
    var change: @Sendable (inout IndexedMember) -> Void
    var testDescription: String { "\(field) of \(path)" }

    init(
      _ field: String, _ path: String, _ values: [String], _ change: @escaping @Sendable (inout IndexedMember) -> Void
    ) {
      self.field = field
      self.path = path
      self.values = values
      self.change = change
    }
  }

  static let rows = [
    Row("path", "d/a", ["d/evil", "d/a"]) { $0.member.path = Array("d/evil".utf8) },
    Row("kind", "d/fifo", ["directory", "fifo"]) { $0.member.kind = .directory },
    Row("kind", "d/link", ["symlink", "fifo"]) {
      $0.member.kind = .fifo
      $0.member.linkTarget = []
    },
    Row("size", "d/a", ["5001", "5000"]) { $0.member.byteCount += 1 },
    Row("size", "d/a", ["5000"]) { $0.member.byteCount -= 1 },
    Row("header size", "d/a", ["4488", "5000"]) {
      // The member as a whole keeps its size.
      $0.headerByteCount += 512
      $0.member.byteCount -= 512
    },
    Row("link target", "d/link", ["elsewhere", "target"]) { $0.member.linkTarget = Array("elsewhere".utf8) },
    Row("hard link target", "d/z", ["d/b", "d/a"]) { $0.member.linkTarget = Array("d/b".utf8) },
    Row("mode", "d/a", ["4755", "644"]) { $0.member.mode = 0o4755 },
    Row("mode", "d", ["777", "755"]) { $0.member.mode = 0o777 },
    Row("mode", "d/fifo", ["666", "644"]) { $0.member.mode = 0o666 },
    Row("user", "d/a", ["0 ", "1234"]) { $0.member.userID = 0 },
    Row("group", "d/a", ["0 ", "3000000"]) { $0.member.groupID = 0 },
    Row("user name", "d/a", ["root", "ada"]) { $0.member.userName = Array("root".utf8) },
    Row("group name", "d/a", ["wheel", "staff"]) { $0.member.groupName = Array("wheel".utf8) },
    Row("seconds", "d/a", ["1700000001", "1700000000"]) { $0.member.modificationTime.seconds += 1 },
    Row("nanoseconds", "d/a", ["123456790", "123456789"]) { $0.member.modificationTime.nanoseconds += 1 },
    Row("device", "d/null", ["1:5", "1:3"]) { $0.member.deviceMinor = 5 },
    Row("device", "d/null", ["7:3", "1:3"]) { $0.member.deviceMajor = 7 },
    Row("device kind", "d/null", ["characterDevice", "blockDevice"]) { $0.member.kind = .blockDevice },
    Row("attribute value", "d/a", ["user.note", "hello", "\\011"]) { $0.member.extendedAttributes[0].value = [9] },
    Row("attribute name", "d/a", ["user.nota", "hello", "missing"]) {
      $0.member.extendedAttributes[0].name = Array("user.nota".utf8)
    },
    Row("missing attribute", "d/a", ["user.note", "hello", "missing"]) { $0.member.extendedAttributes = [] },
    Row("new attribute", "d/b", ["user.new", "missing"]) {
      $0.member.extendedAttributes = [ExtendedAttribute(name: Array("user.new".utf8), value: [])]
    },
    Row("ACL", "d/a", ["user::rwx", "user::rw-"]) {
      $0.member.accessACL = Array("user::rwx,group::r--,other::r--".utf8)
    },
    Row("default ACL", "d", ["user::r--", "user::rwx"]) {
      $0.member.defaultACL = Array("user::r--,group::r-x,other::r-x".utf8)
    },
    Row("extents", "s/holes", ["data region 1", "65536", "69632"]) { record in
      guard let extents = record.member.sparseExtents else { return }
      record.member.sparseExtents =
        [SparseExtent(offset: extents[0].offset + 4096, byteCount: extents[0].byteCount)]
        + extents.dropFirst()
    },
    Row("number of extents", "s/holes", ["1", "2"]) { record in
      record.member.sparseExtents = [SparseExtent(offset: 0, byteCount: record.member.storedByteCount)]
    },
    Row("content hash", "d/a", ["content hash"]) { $0.contentHash?.low ^= 1 },
    Row("content hash of a sparse file", "s/holes", ["content hash"]) { $0.contentHash?.high ^= 1 << 63 },
    Row("content hash of a large file", "big", ["content hash"]) { $0.contentHash?.high ^= 1 },
    Row("mode of a large file", "big", ["600", "644"]) { $0.member.mode = 0o600 },
    Row("size of a large file", "big", ["200000", "199999"]) { $0.member.byteCount = 199_999 },
  ]

  static func archive() throws -> [UInt8] {
    let directory = try #require(TemporaryDirectory.current)
    try FileTree.makeSparse(
      in: directory.root.rawValue, Array("holes".utf8), dataAt: [65536, 1 << 18], byteCount: 1 << 19)
    let sink = MemorySink()
    var options = WriterOptions()
    options.chunkByteCount = 64 << 10
    let writer = try ArchiveWriter(to: sink, options: options)
    func member(_ path: String, _ kind: MemberKind, mode: UInt32 = 0o644) -> Member {
      var member = Member(
        path: Array(path.utf8), kind: kind, mode: mode,
        modificationTime: Timestamp(seconds: 1_700_000_000, nanoseconds: 123_456_789))
      member.userID = 1234
      member.groupID = 3_000_000
      member.userName = Array("ada".utf8)
      member.groupName = Array("staff".utf8)
      return member
    }
    var folder = member("d", .directory, mode: 0o755)
    folder.defaultACL = Array("user::rwx,group::r-x,other::r-x".utf8)
    try writer.append(folder)
    var file = member("d/a", .file)
    file.extendedAttributes = [ExtendedAttribute(name: Array("user.note".utf8), value: Array("hello".utf8))]
    file.accessACL = Array("user::rw-,group::r--,other::r--".utf8)
    try writer.append(file, content: [UInt8](repeating: 0x61, count: 5000))
    try writer.append(member("d/b", .file), content: [UInt8](repeating: 0x62, count: 600))
    var link = member("d/link", .symlink)
    link.linkTarget = Array("target".utf8)
    try writer.append(link)
    try writer.append(member("d/fifo", .fifo))
    var device = member("d/null", .characterDevice)
    (device.deviceMajor, device.deviceMinor) = (1, 3)
    try writer.append(device)
    var hard = member("d/z", .hardlink)
    hard.linkTarget = Array("d/a".utf8)
    try writer.append(hard)
    try writer.appendTree(at: Array(directory.file("holes").utf8), as: Array("s/holes".utf8))
    var random = SplitMix64(seed: 4)
    try writer.append(member("big", .file), content: random.bytes(200_000))
    _ = try writer.finish()
    return sink.content
  }

  @Test(arguments: rows) func aForgedFieldIsFound(row: Row) throws {
    var kind: MemberKind?
    let original = try Self.archive()
    let bytes = try Forgery.archive(original) { page in
      for index in page.members.indices where page.members[index].member.path.elementsEqual(row.path.utf8) {
        let before = page.members[index]
        row.change(&page.members[index])
        #expect(page.members[index] != before)
        #expect(page.members[index].tarByteCount == before.tarByteCount)
        kind = before.member.kind
      }
    }
    let path = try #require(kind == nil ? nil : row.path, "the forged member is not in the archive")
    try Witnesses(bytes, original: original).expectRefused(
      path, row.field == "path" ? "d/evil" : path, isFile: kind == .file, values: row.values)
  }

  @Test func twoMembersThatChangedPlacesAreFound() throws {
    let directory = try #require(TemporaryDirectory.current)
    let bytes = try Forgery.archive(Self.archive()) { page in
      let names = [Array("d/link".utf8), Array("d/fifo".utf8)]
      let places = page.members.indices.filter { names.contains(page.members[$0].member.path) }
      if places.count == 2 { page.members.swapAt(places[0], places[1]) }
    }
    #expect(try !Engine.reader(bytes, in: directory).verify().isHealthy)
  }

  /// The forge itself changes nothing: without a change the archive is the same to the byte, and healthy.
  @Test func theForgeIsFaithful() throws {
    let archive = try Self.archive()
    #expect(try Forgery.archive(archive) { _ in } == archive)
  }
}
