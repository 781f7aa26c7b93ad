import ArchiveFormat
import Foundation
import TestSupport
import Testing

@testable import ArchiveEngine

/// What a salvage makes of parts of an archive that were put together by hand.
@Suite(.inTemporaryDirectory(.memory)) struct SalvagePartsTests {
  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  /// Salvages: the paths that came back, sorted, and what is said to be lost.
  private func salvage(_ bytes: [UInt8]) throws -> (paths: [String], losses: String) {
    let out = directory.file("out")
    var (options, losses) = (ExtractOptions(), "")
    options.syncs = false
    _ = try Engine.reader(bytes, in: directory).salvage(to: Array(out.utf8), options: options) { path, reason in
      losses += "\(String(decoding: path, as: UTF8.self)): \(reason)\n"
    }
    defer { try? FileManager.default.removeItem(atPath: out) }
    return (try FileManager.default.subpathsOfDirectory(atPath: out).sorted(), losses)
  }

  private static func member(_ path: String, _ kind: MemberKind = .file) -> Member {
    Member(path: Array(path.utf8), kind: kind, mode: kind == .directory ? 0o755 : 0o644)
  }

  private static func pageFrame(_ page: IndexPage) throws -> [UInt8] { try HostileIndex.pageFrame(page.encoded()) }

  private static func preamble() throws -> [UInt8] {
    let settings = ArchiveSettings(chunkByteCount: 64 << 10, level: 3, zstdVersion: 10504)
    return try Preamble(settings: settings, opening: Manifest()).encodedFrame()
  }

  /// The beginning of a member has to be as long as the page says in which the member ends.
  @Test func aBeginningOfAnotherSize() throws {
    let content = [UInt8](repeating: 0x61, count: 3000)
    let (tar, records) = try HostileIndex.tar([
      (Self.member("big"), content), (Self.member("after", .directory), []),
    ])
    let (first, second) = (HostileIndex.chunk(Array(tar[..<1024])), HostileIndex.chunk(Array(tar[1024...])))
    let open = IndexPage(chunks: [first.record], members: [])
    let start = try first.frame + Self.preamble() + Self.pageFrame(open)
    let right = IndexPage(openByteCount: 1024, chunks: [second.record], members: records)
    let whole = try salvage(start + second.frame + Self.pageFrame(right))
    #expect(whole.paths == ["after", "big"], "\(whole.losses)")
    let wrong = IndexPage(openByteCount: 512, chunks: [second.record], members: [records[0]])
    let forged = try salvage(start + second.frame + Self.pageFrame(wrong))
    #expect(forged.paths.isEmpty && forged.losses.contains("big: its beginning is lost"), "\(forged)")
  }

  /// Zeros within a file are not the end of the archive.
  @Test func aFileOfZerosWithoutItsBeginning() throws {
    let zeros = [UInt8](repeating: 0, count: 8192)
    let parts = try [
      HostileIndex.tar([(Self.member("first"), [1])]).bytes, HostileIndex.tar([(Self.member("zeros"), zeros)]).bytes,
      HostileIndex.tar([(Self.member("last"), [2])]).bytes,
    ]
    let lost = [UInt8](repeating: 7, count: 100)
    let archive =
      HostileIndex.rawFrame(parts[0]) + (try Self.preamble()) + lost + HostileIndex.rawFrame(Array(parts[1][4096...]))
      + HostileIndex.rawFrame(parts[2])
    let found = try salvage(archive)
    #expect(found.paths == ["first", "last"], "\(found.losses)")
    #expect(found.losses.contains("begins within a file whose beginning is lost"), "\(found.losses)")
  }

  /// Wherever behind the data an archive ends, all members come back.
  @Test func cutWithinTheIndex() throws {
    let whole = try DamageTests.smallArchive()
    let (data, others) = try Engine.frames(whole)
    for count in stride(from: data[0].count + others[0].count, to: whole.count, by: 11) {
      let found = try salvage(Array(whole[..<count]))
      #expect(found.paths == ["d", "d/a", "d/l", "d/r"], "cut to \(count): \(found.losses)")
    }
  }
}
