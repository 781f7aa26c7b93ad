import ArchiveIO
import TestSupport
import Testing

@testable import AppMigrationHost

/// Temporary directories of extensions: that of a killed host goes with the next one, and nothing else does.
///
/// In a process of its own: programs that other tests start would hold the lock of a dead host for a moment.
@Suite(.inTemporaryDirectory(.memory)) struct PrivateDirectoryTests {
  private static func names(_ place: TemporaryDirectory) throws -> Set<Substring> {
    Set(try Shell.script("ls -A", directory: place.path).split(separator: "\n"))
  }

  @Test func killedHosts() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      let base = Array(place.path.utf8)
      let live = try PrivateDirectory(in: base)
      do {
        // Given up without being removed: what a kill leaves.
        let dead = try PrivateDirectory(in: base)
        try Shell.script(
          "mkdir -p d/e; touch d/e/f; chmod 555 d/e", directory: String(decoding: dead.path, as: UTF8.self))
      }
      #expect(try Self.names(place).count == 2)
      let next = try PrivateDirectory(in: base)
      let expected = Set(
        [live, next].map { String(decoding: $0.path, as: UTF8.self).split(separator: "/").last ?? "" })
      #expect(try Self.names(place) == Set(expected.map { Substring($0) }))
      next.remove()
      live.remove()
      #expect(try Self.names(place).isEmpty)
    }
  }

  @Test func whatIsNotOursStays() throws {
    let place = try #require(TemporaryDirectory.current)
    let base = Array(place.path.utf8)
    try Shell.script(
      """
      mkdir -m 700 appmigrate- appmigrate-notes appmigrate-aaaaaaaaaaaaa appmigrate-AAAAAAAAAAAA xappmigrate-aaaaaaaaaaaa
      mkdir -m 755 appmigrate-aaaaaaaaaaaa; touch appmigrate-bbbbbbbbbbbb; ln -s . appmigrate-cccccccccccc
      """, directory: place.path)
    let before = try Self.names(place)
    try PrivateDirectory(in: base).remove()
    #expect(try Self.names(place) == before)
  }
}
