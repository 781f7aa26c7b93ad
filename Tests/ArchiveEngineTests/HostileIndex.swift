import ArchiveFormat
import Foundation
import TestSupport

@testable import ArchiveEngine

/// Makes archives of ours in which a frame of the index says anything, and all hashes above it hold: what lies behind the hashes is then what is tested.
struct HostileIndex {
  /// The data frames of a small archive and what describes them.
  let data: [[UInt8]]
  let preamble: Preamble
  let pages: [IndexPage]

  init(data: [[UInt8]], preamble: Preamble, pages: [IndexPage]) {
    self.data = data
    self.preamble = preamble
    self.pages = pages
  }

  /// - Parameter archive: one of ours.
  init(_ archive: [UInt8]) throws {
    let (data, others) = try Engine.frames(archive)
    self.data = data
    let first = others[0]
    preamble = try Preamble(decodingFrame: first.span)
    let codec = PageCodec()
    pages = try others.dropFirst().filter { try SkippableFrame.kind($0.span) == .page }.map {
      try codec.decode($0.span)
    }
  }

  /// An archive of these members.
  ///
  /// - Parameters:
  ///   - groups: the members of each page.
  ///   - splitting: the most that a chunk holds.
  ///   - padding: zeros behind the last member of each page.
  init(
    _ groups: [[(member: Member, content: [UInt8])]], splitting: Int = .max, padding: Int = 0
  ) throws {
    var (data, pages): ([[UInt8]], [IndexPage]) = ([], [])
    for group in groups {
      var (tar, records) = try Self.tar(group)
      tar += [UInt8](repeating: 0, count: padding)
      var page = IndexPage(chunks: [], members: records)
      for start in stride(from: 0, to: tar.count, by: min(splitting, tar.count)) {
        let (frame, record) = Self.chunk(Array(tar[start...].prefix(splitting)))
        data.append(frame)
        page.chunks.append(record)
      }
      pages.append(page)
    }
    let (frame, record) = Self.chunk([UInt8](repeating: 0, count: 1024))
    let settings = ArchiveSettings(chunkByteCount: 64 << 10, level: 3, zstdVersion: 10504)
    self.init(
      data: data + [frame], preamble: Preamble(settings: settings, opening: Manifest()),
      pages: pages + [.end(chunk: record)])
  }

  /// Members as tar, and their records.
  static func tar(
    _ members: [(member: Member, content: [UInt8])]
  ) throws -> (bytes: [UInt8], records: [IndexedMember]) {
    var (bytes, records): ([UInt8], [IndexedMember]) = ([], [])
    for (given, content) in members {
      var member = given
      member.byteCount = UInt64(content.count)
      let start = bytes.count
      try TarHeaderEncoder.append(member, to: &bytes)
      let hash = member.kind == .file ? XXH3.hash128(content.span) : nil
      records.append(
        IndexedMember(member: member, headerByteCount: UInt64(bytes.count - start), contentHash: hash))
      bytes += content + [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
    }
    return (bytes, records)
  }

  /// A chunk of raw blocks.
  static func chunk(_ content: [UInt8]) -> (frame: [UInt8], record: ChunkRecord) {
    let frame = rawFrame(content)
    let record = ChunkRecord(
      storedByteCount: UInt32(frame.count), contentByteCount: UInt32(content.count),
      storedHash: XXH3.hash64(frame.span), isStored: true)
    return (frame, record)
  }

  /// What changes the line of page 0 in the body of a directory frame. Its filters then let every name pass.
  static func describing(_ change: @escaping (inout PageDescriptor) -> Void) -> ([UInt8]) -> [UInt8] {
    { body in
      guard let frame = try? SkippableFrame.wrap(.directory, body: body),
        var directory = try? PageDirectory(decodingFrame: frame.span)
      else { return [] }
      change(&directory.pages[0])
      let filterByteCount = directory.pages.reduce(0) { $0 + $1.filterByteCount }
      directory.filters = [UInt8](repeating: 0xFF, count: filterByteCount)
      return (try? directory.encodedFrame()).map { Array($0.dropFirst(16)) } ?? []
    }
  }

  /// A zstd frame of raw blocks.
  static func rawFrame(_ payload: [UInt8]) -> [UInt8] {
    var frame = header(payload.count)
    var position = 0
    repeat {
      let count = min(payload.count - position, 128 << 10)
      frame += littleEndian(UInt32(count << 3 | (position + count == payload.count ? 1 : 0)), 3)
      frame += payload[position..<position + count]
      position += count
    } while position < payload.count
    return frame
  }

  /// A zstd frame of so many zeros: four bytes for each 128 KiB.
  static func zeroFrame(_ byteCount: Int) -> [UInt8] {
    var frame = header(byteCount)
    for start in stride(from: 0, to: byteCount, by: 128 << 10) {
      let count = min(byteCount - start, 128 << 10)
      frame += littleEndian(UInt32(count << 3 | 2 | (start + count == byteCount ? 1 : 0)), 3) + [0]
    }
    return frame
  }

  private static func header(_ byteCount: Int) -> [UInt8] {
    [0x28, 0xB5, 0x2F, 0xFD, 0xA0] + littleEndian(UInt32(byteCount), 4)
  }

  private static func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
  }

  /// A page frame around any payload.
  static func pageFrame(_ payload: [UInt8]) throws -> [UInt8] {
    try PageFrame.wrap(compressed: rawFrame(payload).span, decodedByteCount: payload.count)
  }

  /// The archive; each step can put something else in the place of what belongs there.
  ///
  /// - Parameters:
  ///   - page: the frame of page 0.
  ///   - directory: changes the body of the directory frame.
  ///   - root: changes the body of the root frame.
  ///   - stale: what keeps the hash that it would have had.
  func archive(
    page: [UInt8]? = nil, directory: ([UInt8]) -> [UInt8] = { $0 }, root: ([UInt8]) -> [UInt8] = { $0 },
    stale: IndexFrameKind? = nil
  ) throws -> [UInt8] {
    var index = try IndexAccumulator(settings: preamble.settings, opening: preamble.opening)
    var result: [UInt8] = []
    var next = 0
    let codec = PageCodec()
    for (number, value) in pages.enumerated() {
      for _ in value.chunks {
        result += data[next]
        if next == 0 { result += index.preambleFrame }
        next += 1
      }
      var (frame, summary) = try codec.encode(value)
      if number == 0, let page {
        frame = page
        summary.descriptor.storedByteCount = UInt32(frame.count)
        if stale != .page { summary.descriptor.pageHash = XXH3.hash64(frame.span) }
      }
      result += frame
      try index.add(summary)
    }
    let tail = try index.finish(closing: Manifest())
    let (original, originalRoot) = (tail[0], tail[1])
    let changed = try SkippableFrame.wrap(.directory, body: directory(Array(original.dropFirst(16))))
    result += changed
    var value = try ArchiveRoot(decodingFrame: originalRoot.span)
    let hashed = stale == .directory ? original : changed
    value.directories = [DirectoryReference(storedByteCount: UInt32(changed.count), hash: XXH3.hash64(hashed.span))]
    result += Self.sealed(root(Array(try value.encodedFrame().dropFirst(16).dropLast(28))))
    return result + tail.dropFirst(2).flatMap { $0 }
  }

  /// A root frame with this body: its digest and footer fit.
  private static func sealed(_ body: [UInt8]) -> [UInt8] {
    let byteCount = UInt32(16 + body.count + 28)
    var frame = littleEndian(SkippableFrame.magic, 4) + littleEndian(byteCount - 8, 4)
    frame += SkippableFrame.signature + [IndexFrameKind.root.rawValue, SkippableFrame.formatVersion, 0, 0] + body
    let digest = XXH3.hash128(frame.span)
    for half in [digest.high, digest.low] {
      frame += (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) }
    }
    return frame + littleEndian(byteCount, 4) + Array("STIXROOT".utf8)
  }

  /// The bytes with a number of any size at `offset`, as long as before.
  static func splice(_ number: UInt64, into bytes: [UInt8], at offset: Int) -> [UInt8] {
    Array((bytes[..<offset] + varint(number) + bytes[offset...].dropFirst(varint(number).count)).prefix(bytes.count))
  }

  /// A number as the index writes it.
  static func varint(_ number: UInt64) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}
