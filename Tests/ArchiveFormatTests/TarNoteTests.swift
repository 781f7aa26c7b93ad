import ArchiveFormat
import Testing

/// What is odd in front of a member is said, but not so often that an archive could fill the memory with it.
@Suite struct TarNoteTests {
  /// Headers in front of a member that each have something odd about them.
  static let oddHeaders: [String: @Sendable (Int) -> [UInt8]] = [
    "ACLs of Solaris": { _ in RawTar.entry("acl", "", type: "A") },
    "global records that belong to one member": { RawTar.pax(["path": "p\($0)", "uid": "1"], type: "g") },
    "pax headers one behind the other": { RawTar.pax(["uid": "\($0)"]) },
    "long names one behind the other": { RawTar.longName("name-\($0)") },
    "global headers with attributes that cannot be read": {
      RawTar.pax(["LIBARCHIVE.xattr.a\($0)": "!", "mtime": "99999999999999999999"], type: "g")
    },
    "broken global headers": { RawTar.entry("g", "\($0 + 10) x", type: "g") },
  ]

  @Test(arguments: oddHeaders.keys.sorted())
  func theNotesOfAMemberAreBounded(_ kind: String) throws {
    let header = try #require(Self.oddHeaders[kind])
    let stream = (0..<500).flatMap(header) + RawTar.entry("name", "x") + RawTar.end
    let reading = try TarReading(stream, isLenient: true)
    let notes = try #require(reading.members.first).notes
    #expect(!notes.isEmpty && notes.count <= TarLimits.maximumNoteCount)
    #expect(Set(notes).count == notes.count, "a sentence comes twice")
  }
}
