import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

@testable import ArchiveEngine

/// Whatever an index states, with hashes that hold: reading takes little memory, does not crash, and ends.
@Suite struct HostileIndexTests {
  private static let slack = 24 << 20

  private static func options() -> ExtractOptions {
    var options = ExtractOptions()
    options.syncs = false
    return options
  }

  /// What a reader is used for.
  enum Use: CaseIterable {
    case list, verify, quickVerify, info, read, compare, extract, salvage

    func perform(
      _ reader: ArchiveReader, in directory: TemporaryDirectory, options: ExtractOptions
    ) throws(ArchiveError) {
      func path(_ name: String) -> [UInt8] { Array(directory.file(name).utf8) }
      switch self {
      case .list: try reader.list(Self.ignore)
      case .verify: _ = try reader.verify()
      case .quickVerify: _ = try reader.verify(quick: true)
      case .info: _ = try reader.info()
      case .read: try reader.read(Array("d/a".utf8), to: MemorySink())
      case .compare: _ = try reader.compare(with: Array(directory.path.utf8), Self.ignore)
      case .extract: _ = try reader.extract(to: path("out"), options: options)
      case .salvage: _ = try reader.salvage(to: path("saved"), options: options) { _, _ in }
      }
    }

    private static func ignore(_ member: ListedMember) throws(ArchiveError) {}
    private static func ignore(_ difference: TreeDifference) throws(ArchiveError) {}
  }

  /// Reads an archive in every way. All may fail; what is returned are the errors.
  @discardableResult
  private static func readAll(
    _ archive: [UInt8], in directory: TemporaryDirectory, limits: ReadLimits = .init(), isShort: Bool = false
  ) throws -> [ArchiveError] {
    let path = directory.file("a")
    try FileTree.write(archive, to: path)
    var errors: [ArchiveError] = []
    for use in isShort ? [Use.list, .verify, .extract] : Use.allCases {
      do throws(ArchiveError) {
        try use.perform(
          try ArchiveReader(path: Array(path.utf8), limits: limits, threadCount: 1), in: directory, options: options())
      } catch { errors.append(error) }
    }
    for name in ["out", "saved"] where FileManager.default.fileExists(atPath: directory.file(name)) {
      try FileManager.default.removeItem(atPath: directory.file(name))
    }
    return errors
  }

  /// Numbers that are too large for anything, or just too large for memory.
  private static let numbers: [UInt64] = [1 << 62, (1 << 32) - 1, 65_536]

  enum Part: String, CaseIterable, Codable, Sendable { case page, directory, root }

  /// In the place of every byte of the index such a number.
  @Test(arguments: Part.allCases) func numbersAnywhere(_ part: Part) async {
    await #expect(processExitsWith: .success) { [part] in
      let directory = try TemporaryDirectory(.memory)
      let index = try HostileIndex(DamageTests.smallArchive())
      #expect(try Self.readAll(index.archive(), in: directory).isEmpty, "the archive as it was")
      let payload = try index.pages[0].encoded()
      let growth = try ProcessMemory.peakByteCount { try Self.readAll(index.archive(), in: directory) }
      let peak = try ProcessMemory.peakByteCount {
        var (offset, isEnd) = (0, false)
        while !isEnd {
          for number in Self.numbers {
            func splice(_ bytes: [UInt8]) -> [UInt8] {
              isEnd = offset + 1 >= bytes.count
              return HostileIndex.splice(number, into: bytes, at: min(offset, bytes.count - 1))
            }
            let archive =
              switch part {
              case .page: try index.archive(page: HostileIndex.pageFrame(splice(payload)))
              case .directory: try index.archive(directory: splice)
              case .root: try index.archive(root: splice)
              }
            try Self.readAll(archive, in: directory, isShort: offset % 8 != 0)
          }
          offset += 1
        }
      }
      #expect(peak < growth + Self.slack, "\(peak) bytes instead of \(growth)")
    }
  }

  /// A page that is small as stored and would take far more memory than is allowed for one.
  private static func expectRefusal(_ index: HostileIndex, page: [UInt8], mebibytes: Int) throws {
    let directory = try TemporaryDirectory(.memory)
    var limits = ReadLimits()
    limits.memoryByteCount = mebibytes << 20
    let archive = try index.archive(page: page)
    let before = try ProcessMemory.peakByteCount { try Self.readAll(index.archive(), in: directory, limits: limits) }
    let growth =
      try ProcessMemory.peakByteCount {
        let errors = try Self.readAll(archive, in: directory, limits: limits)
        #expect(errors.count { $0.code == .limitExceeded && $0.message.contains("--memory-limit") } >= 5, "\(errors)")
      } - before
    #expect(growth < limits.pageMemoryByteCount + (8 << 20), "\(growth) bytes")
  }

  @Test func aPageOfZeros() async {
    await #expect(processExitsWith: .success) {
      let index = try HostileIndex(DamageTests.smallArchive())
      let zeros = 60 << 20
      try Self.expectRefusal(
        index, page: PageFrame.wrap(compressed: HostileIndex.zeroFrame(zeros).span, decodedByteCount: zeros),
        mebibytes: 32)
    }
  }

  /// Names that share all they have with the one before.
  @Test func aPageOfLongNames() async {
    await #expect(processExitsWith: .success) {
      let index = try HostileIndex(DamageTests.smallArchive())
      let (count, length) = (60_000, 1_000)
      var payload: [UInt8] = [0, 0, 1, 1, 1, 0] + HostileIndex.varint(UInt64(count))
      payload += [UInt8](repeating: 0, count: count)
      payload += [0] + (1..<count).flatMap { _ in HostileIndex.varint(UInt64(length)) }
      payload += HostileIndex.varint(UInt64(length)) + [UInt8](repeating: 0, count: count - 1)
      payload += [UInt8](repeating: 0x61, count: length)
      // What follows is missing, which shows if the names are taken.
      payload += [UInt8](repeating: 0, count: 8 * count)
      try Self.expectRefusal(index, page: HostileIndex.pageFrame(payload), mebibytes: 32)
    }
  }

  @Test func aPageOfAttributes() async {
    await #expect(processExitsWith: .success) {
      let index = try HostileIndex(DamageTests.smallArchive())
      var page = index.pages[0]
      for member in page.members.indices.prefix(4) {
        page.members[member].member.extendedAttributes = (0..<40_000).map {
          ExtendedAttribute(name: Array("u.\(member).\($0 + 100_000)".utf8), value: [])
        }
      }
      try Self.expectRefusal(index, page: HostileIndex.pageFrame(page.encoded()), mebibytes: 16)
    }
  }

  /// Every damaged chunk names the members that it touches, which one small page can list by ten thousands.
  @Test func namesOfDamagedMembersAreBounded() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      let (chunkCount, memberCount) = (12, 8_000)
      let settings = ArchiveSettings(chunkByteCount: 32 << 20, level: 3, zstdVersion: 10504)
      var index = try IndexAccumulator(settings: settings, opening: Manifest())
      let path = [UInt8](repeating: 0x61, count: 2_000)
      var record = IndexedMember(member: Member(path: path, kind: .directory), headerByteCount: 4096)
      record.member.mode = 0o755
      var archive: [UInt8] = []
      for number in 0...chunkCount {
        let isEnd = number == chunkCount
        let content = isEnd ? 1024 : 4096 * memberCount
        var page = IndexPage(
          chunks: [
            ChunkRecord(storedByteCount: 20, contentByteCount: UInt32(content), storedHash: 1, isStored: false)
          ], members: isEnd ? [] : [IndexedMember](repeating: record, count: memberCount))
        page.isEnd = isEnd
        archive += [UInt8](repeating: 7, count: 20)
        if number == 0 { archive += index.preambleFrame }
        let (frame, summary) = try PageCodec().encode(page)
        archive += frame
        try index.add(summary)
      }
      for frame in try index.finish(closing: Manifest()) { archive += frame }
      try FileTree.write(archive, to: directory.file("a"))
      for quick in [true, false] {
        let reader = try ArchiveReader(path: Array(directory.file("a").utf8), threadCount: 2)
        var report = VerifyReport()
        let peak = try ProcessMemory.peakByteCount { report = try reader.verify(quick: quick) }
        #expect(report.damagedChunkCount == UInt64(chunkCount) + 1)
        let named = report.damages.reduce(0) { $0 + $1.members.count }
        let unnamed = report.damages.reduce(0) { $0 + $1.unlistedMemberCount }
        #expect(UInt64(named) + unnamed == UInt64(chunkCount * memberCount))
        #expect(named > 0 && named * path.count <= 16 << 20)
        #expect(peak < 144 << 20, "\(peak) bytes")
      }
    }
  }

  /// A page and a directory that decode well and are not those that were hashed: only the hash tells, and every reader looks at it.
  @Test func whatIsNotWhatWasHashedIsRefused() throws {
    let directory = try TemporaryDirectory(.memory)
    let index = try HostileIndex(DamageTests.smallArchive())
    let page = try HostileIndex.pageFrame(index.pages[0].encoded())
    // As long as its hash goes with it another form of the page is as good, and a filter may have more bits.
    func more(_ body: [UInt8]) -> [UInt8] { body.dropLast() + [body.last.map { $0 | 0xFF } ?? 0] }
    let path = directory.file("a")
    func errors(_ archive: [UInt8]) throws -> [ArchiveError] {
      try FileTree.write(archive, to: path)
      var errors: [ArchiveError] = []
      for use in [Use.list, .read, .extract] {
        do throws(ArchiveError) {
          try use.perform(
            try ArchiveReader(path: Array(path.utf8), threadCount: 1), in: directory, options: Self.options())
        } catch { errors.append(error) }
      }
      try? FileManager.default.removeItem(atPath: directory.file("out"))
      return errors
    }
    #expect(try errors(index.archive(page: page)).isEmpty)
    #expect(try errors(index.archive(directory: more)).isEmpty)
    for archive in [
      try index.archive(page: page, stale: .page), try index.archive(directory: more, stale: .directory),
    ] {
      let found = try errors(archive)
      #expect(found.count == 3 && found.allSatisfy { $0.code == .damaged && $0.message.contains("hash") }, "\(found)")
    }
  }

  /// The end blocks are said to be zeros by their place alone.
  @Test func endBlocksThatAreNotZerosAreFound() throws {
    let directory = try TemporaryDirectory(.memory)
    let index = try HostileIndex(DamageTests.smallArchive())
    var (data, pages) = (index.data, index.pages)
    let end = HostileIndex.rawFrame([UInt8](repeating: 0, count: 1023) + [1])
    data[data.count - 1] = end
    pages[pages.count - 1].chunks = [
      ChunkRecord(
        storedByteCount: UInt32(end.count), contentByteCount: 1024, storedHash: XXH3.hash64(end.span), isStored: true)
    ]
    let archive = try HostileIndex(data: data, preamble: index.preamble, pages: pages).archive()
    let report = try Engine.reader(archive, in: directory).verify()
    #expect(report.damages.contains { $0.message.contains("zeros") && $0.chunk != nil })
    let piped = try Engine.withPipe(archive) { try ArchiveReader(descriptor: $0).verify() }
    #expect(!piped.isHealthy || piped.warningCount > 0)
  }

  /// A chunk that holds less than the index states.
  @Test func aChunkThatIsTooShortIsFound() throws {
    let directory = try TemporaryDirectory(.memory)
    let bytes = try Forgery.archive(DamageTests.smallArchive()) { page in
      guard !page.isEnd, let last = page.members.indices.last else { return }
      // The last member has a block more, of which nothing is there.
      page.members[last].member.byteCount += 512
      page.chunks[page.chunks.count - 1].contentByteCount += 512
    }
    let report = try Engine.reader(bytes, in: directory).verify()
    #expect(report.damages.contains { $0.message.contains("decodes to") }, "\(report.damages)")
  }
}
