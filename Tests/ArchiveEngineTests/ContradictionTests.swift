import ArchiveFormat
import Foundation
import TestSupport
import Testing

@testable import ArchiveEngine

/// Parts of an archive each of which holds, with hashes that are right, and which do not fit together.
@Suite(.inTemporaryDirectory(.memory)) struct ContradictionTests {
  typealias Use = HostileIndexTests.Use

  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  /// The error of one way to read; nil when there is none.
  private func error(_ use: Use, _ archive: [UInt8]) throws -> ArchiveError? {
    let reader = try Engine.reader(archive, in: directory)
    var options = ExtractOptions()
    options.syncs = false
    defer { try? FileManager.default.removeItem(atPath: directory.file("out")) }
    do throws(ArchiveError) { try use.perform(reader, in: directory, options: options) } catch { return error }
    return nil
  }

  /// What verification finds in a file, all of it or the index alone, and in a pipe.
  private func findings(_ archive: [UInt8]) throws -> (file: String, quick: String, pipe: String) {
    func text(_ report: VerifyReport) -> String { report.damages.map(\.message).joined(separator: "\n") }
    let reader = try Engine.reader(archive, in: directory)
    let piped = try Engine.withPipe(archive) { try ArchiveReader(descriptor: $0).verify() }
    return (text(try reader.verify()), text(try reader.verify(quick: true)), text(piped))
  }

  private static func member(_ path: String, _ kind: MemberKind = .file) -> Member {
    Member(path: Array(path.utf8), kind: kind, mode: kind == .directory ? 0o755 : 0o644)
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// The archives that are made here are right before anything in them is changed.
  @Test func theBuilderIsFaithful() throws {
    let content = Self.zeros(100_000)
    let groups = [[(Self.member("d", .directory), []), (Self.member("d/f"), content)], [(Self.member("x"), [1])]]
    for splitting in [Int.max, 64 << 10] {
      let index = try HostileIndex(groups, splitting: splitting)
      for archive in [try index.archive(), try index.archive(directory: HostileIndex.describing { _ in })] {
        for use in [Use.list, .extract] { #expect(try error(use, archive) == nil) }
      }
      let found = try findings(index.archive())
      #expect(found == ("", "", ""), "\(found)")
    }
  }

  /// The root says where it lies, and the index where the archive ends.
  @Test func bytesThatTheIndexDoesNotAccountFor() throws {
    let whole = try DamageTests.smallArchive()
    let tail = try Engine.frames(whole).others.suffix(3).reduce(0) { $0 + $1.count }
    let foreign: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0, 7]
    for archive in [whole + whole, foreign + whole, whole.dropLast(tail) + foreign + whole.suffix(tail)] {
      #expect(try findings(archive).quick.contains("accounts for"))
      for use in [Use.list, .extract, .read] { #expect(try error(use, archive)?.code == .mismatch) }
    }
    // A footer of a seek table that would begin where the right one does.
    var footer = Array(whole.suffix(9))
    footer[0] += 2
    let longer = whole + Self.zeros(7) + footer
    let found = try findings(longer)
    #expect(found.file.contains("accounts for") && found.quick.contains("accounts for"), "\(found)")
  }

  @Test func aDirectoryThatContradictsItsPages() throws {
    let index = try HostileIndex(DamageTests.smallArchive())
    let changes: [(inout PageDescriptor) -> Void] = [
      { $0.chunkCount += 1 }, { $0.memberCount -= 1 }, { $0.contentByteCount += 512 }, { $0.openByteCount += 1 },
    ]
    for (number, change) in changes.enumerated() {
      let archive = try index.archive(directory: HostileIndex.describing(change))
      for use in [Use.list, .read, .extract] {
        let error = try error(use, archive)
        #expect(error?.code == .mismatch && error?.message.contains("in the directory") == true, "\(number), \(use)")
      }
    }
  }

  /// A page states how much of a member came before it, and lists those that end in it.
  @Test func pagesThatDoNotContinueEachOther() throws {
    let (a, e, f) = (Self.member("a"), Self.member("e", .directory), Self.member("f"))
    let index = try HostileIndex([[(a, [1]), (e, [])], [(e, []), (f, [2])]])
    #expect(try error(.extract, index.archive()) == nil)
    var open = index.pages[0]
    open.openByteCount = 1
    var short = index.pages[0]
    short.members.removeLast()
    let cases: [(page: IndexPage, change: (inout PageDescriptor) -> Void, text: String)] = [
      (open, { $0.openByteCount = 1 }, "does not continue"), (short, { $0.memberCount = 1 }, "do not fill"),
    ]
    for (page, change, text) in cases {
      let archive = try index.archive(
        page: HostileIndex.pageFrame(page.encoded()), directory: HostileIndex.describing(change))
      let error = try error(.extract, archive)
      #expect(error?.code == .mismatch && error?.message.contains(text) == true, "\(String(describing: error))")
    }
  }

  /// Chunks are bounded by the archive's own chunk size, whoever reads them.
  @Test func aChunkThatIsTooLargeForItsArchive() throws {
    let archive = try HostileIndex([[(Self.member("d/a"), Self.zeros(5 << 20))]]).archive()
    for use in [Use.verify, .quickVerify, .extract, .compare] {
      let error = try error(use, archive)
      #expect(error?.code == .limitExceeded, "\(use): \(String(describing: error))")
    }
  }

  /// A header of another size shifts the content, whose hash is then that of the wrong bytes.
  @Test(arguments: [Int.max, 64 << 10]) func headersOfOtherSizes(splitting: Int) throws {
    var random = SplitMix64(seed: 5)
    let content = random.bytes(100_000)
    let made = try HostileIndex([[(Self.member("f"), content)]], splitting: splitting, padding: 512)
    var pages = made.pages
    let shifted = content.dropFirst(512) + Self.zeros(512)
    pages[0].members[0].headerByteCount += 512
    pages[0].members[0].contentHash = XXH3.hash128(Array(shifted).span)
    let archive = try HostileIndex(data: made.data, preamble: made.preamble, pages: pages).archive()
    let found = try findings(archive)
    for text in [found.file, found.pipe] {
      #expect(text.contains("header of 512 bytes") && text.contains("states 1024"), "\(text)")
    }
    #expect(try error(.extract, archive)?.code == .mismatch)
  }

  /// Of members that take too much memory to be kept until their page comes a digest is: it tells them apart as well.
  @Test func membersThatAreTooLargeToBeKept() throws {
    var members = (0..<10).map { Self.member("d\($0)", .directory) }
    for index in members.indices {
      members[index].extendedAttributes = [
        ExtendedAttribute(name: Array("user.a".utf8), value: [UInt8](repeating: 0x61, count: 1_000_000))
      ]
    }
    let index = try HostileIndex([members.map { ($0, []) }], splitting: 1 << 20)
    #expect(try findings(index.archive()).pipe == "")
    var pages = index.pages
    pages[0].members[9].member.mode = 0o4777
    let archive = try HostileIndex(data: index.data, preamble: index.preamble, pages: pages).archive()
    #expect(try findings(archive).pipe.contains("index and tar header differ"))
  }
}
