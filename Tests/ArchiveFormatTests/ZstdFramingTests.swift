import ArchiveFormat
import Foundation
import Testing

@Suite struct ZstdFramingTests {
  /// Runs a command on files; the test fails when it cannot be run.
  static func run(_ arguments: [String], input: [UInt8]) throws -> (status: Int32, output: [UInt8]) {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (source, target) = (directory.appendingPathComponent("in"), directory.appendingPathComponent("out"))
    try Data(input).write(to: source)
    try Data().write(to: target)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let reader = try FileHandle(forReadingFrom: source)
    let writer = try FileHandle(forWritingTo: target)
    process.standardInput = reader
    process.standardOutput = writer
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, [UInt8](try Data(contentsOf: target)))
  }

  static func rawFrame(_ content: [UInt8], xxh64: UInt64? = nil) -> [UInt8] {
    var frame = RawFrame.frameHeader(contentByteCount: content.count)
    // Without a given checksum the flag is cleared.
    if xxh64 == nil { frame[4] &= ~0x04 }
    var offset = 0
    repeat {
      let count = min(RawFrame.blockByteCount, content.count - offset)
      frame += RawFrame.blockHeader(byteCount: count, isLast: offset + count == content.count)
      frame += content[offset..<(offset + count)]
      offset += count
    } while offset < content.count
    if let xxh64 { frame += RawFrame.checksum(xxh64: xxh64) }
    return frame
  }

  @Test(arguments: [0, 1, 255, 256, 65_791, 65_792, 131_072, 131_073, 8 << 20, (8 << 20) + 1, 12 << 20])
  func rawFramesAreFramesForZstd(count: Int) throws {
    var random = SeededGenerator(UInt64(count))
    var content = [UInt8](repeating: 7, count: count)
    for _ in 0..<min(count, 1000) { content[random.below(count)] = UInt8(random.below(256)) }
    let frame = Self.rawFrame(content)
    #expect(RawFrame.frameByteCount(contentByteCount: count) == frame.count + 4)
    let result = try Self.run(["zstd", "-dcq", "-M8MB"], input: frame)
    #expect(result.status == 0)
    #expect(result.output == content)
    guard case .data(let header)? = try ZstdFraming.parseStart(frame.span) else {
      Issue.record("no data frame")
      return
    }
    #expect(header.contentByteCount == UInt64(count))
    #expect(header.windowByteCount <= 8 << 20)
    var walker = ZstdFrameWalker()
    #expect(try walker.consume(frame.span, in: 0..<frame.count) == (frame.count, true))
    #expect(walker.hasOnlyRawBlocks)
  }

  @Test func checksumIsThatOfZstd() throws {
    // XXH64 of nothing and of "abc".
    for (text, hash) in [("", 0xEF46_DB37_51D8_E999), ("abc", 0x44BC_2CF5_AD77_0999)] as [(String, UInt64)] {
      let frame = Self.rawFrame(Array(text.utf8), xxh64: hash)
      #expect(frame.count == RawFrame.frameByteCount(contentByteCount: text.utf8.count))
      let good = try Self.run(["zstd", "-dcq"], input: frame)
      #expect(good.status == 0)
      #expect(good.output == Array(text.utf8))
      #expect(try Self.run(["zstd", "-dcq"], input: frame.dropLast() + [frame[frame.count - 1] ^ 1]).status != 0)
    }
  }

  /// Frames as the real compressor makes them, in pieces of every size.
  @Test(arguments: [
    ["-1"], ["-19"], ["-3", "--no-check"], ["-3", "--no-content-size"], ["--ultra", "-22", "--long=24"],
  ])
  func walkerFindsTheEndOfRealFrames(options: [String]) throws {
    var random = SeededGenerator(11)
    var content: [UInt8] = []
    for _ in 0..<60_000 { content += [0x61, 0x62, UInt8(random.below(20)), 0x63, 0x64] }
    content += random.bytes(200_000) + [UInt8](repeating: 0, count: 300_000)
    for input in [[], [1], content] {
      let frame = try Self.run(["zstd", "-cq"] + options, input: input).output
      #expect(frame.count > 8)
      let stream = frame + SkippableFrame.header(magic: 0x184D_2A50, payloadByteCount: 3) + [1, 2, 3] + frame
      for step in [1, 2, 3, 17, 1000, stream.count] {
        var walker = ZstdFrameWalker()
        var ends: [Int] = []
        var position = 0
        while position < stream.count {
          let end = min(stream.count, position + step)
          let (consumed, isComplete) = try walker.consume(stream.span, in: position..<end)
          position += consumed
          #expect(isComplete || position == end)
          if isComplete {
            ends.append(position)
            #expect(walker.byteCount == UInt64(position - (ends.dropLast().last ?? 0)))
            walker = ZstdFrameWalker()
          }
        }
        #expect(ends == [frame.count, frame.count + 11, stream.count], "\(options), step \(step)")
      }
    }
  }

  @Test func everyHeaderFormIsParsed() throws {
    for descriptor in UInt8.min...UInt8.max {
      var bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, descriptor]
      let isSingle = descriptor & 0x20 != 0
      if !isSingle { bytes.append(0x0B) }
      let dictionary = [[], [7], [7, 0], [7, 0, 0, 0]][Int(descriptor & 3)] as [UInt8]
      let size =
        [isSingle ? [9] : [], [9, 1], [9, 1, 0, 0], [9, 1, 0, 0, 0, 0, 0, 0]][Int(descriptor >> 6)] as [UInt8]
      bytes += dictionary + size
      if descriptor & 0x08 != 0 {
        #expect(throws: FormatError.self) { try ZstdFraming.parseStart(bytes.span) }
        continue
      }
      for count in 0..<bytes.count { #expect(try ZstdFraming.parseStart(bytes.span.extracting(0..<count)) == nil) }
      let stated: UInt64? = size.isEmpty ? nil : [9, 521, 265, 265][Int(descriptor >> 6)]
      let expected = ZstdFrameHeader(
        windowByteCount: isSingle ? stated ?? 0 : 2048 + 256 * 3, contentByteCount: stated,
        dictionaryID: dictionary.isEmpty ? nil : 7, hasChecksum: descriptor & 4 != 0, isSingleSegment: isSingle,
        headerByteCount: bytes.count)
      #expect(try parseStart((bytes + [1])) == .data(expected))
      #expect(try parseStart(([0, 0] + bytes), at: 2) == .data(expected))
    }
    #expect(throws: FormatError.self) { try parseStart([1, 2, 3, 4]) }
  }

  @Test func badBlocksAreRejected() {
    let header = RawFrame.frameHeader(contentByteCount: 10)
    for block in [[0x07, 0, 0], [0x08, 0, 0x10], [0xFF, 0xFF, 0xFF]] as [[UInt8]] {
      var walker = ZstdFrameWalker()
      let bytes = header + block
      #expect(throws: FormatError.self, "\(block)") { try walker.consume(bytes.span, in: 0..<bytes.count) }
    }
    for seed in 0..<3000 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let bytes = header + random.bytes(random.below(60))
      var walker = ZstdFrameWalker()
      _ = try? walker.consume(bytes.span, in: 0..<bytes.count)
    }
  }

  @Test func signatures() throws {
    for (tool, expected) in [
      (["gzip", "-c"], .gzip), (["xz", "-c"], .xz), (["bzip2", "-c"], .bzip2), (["zstd", "-cq"], .zstd),
      (["tar", "-c", "/etc/hostname"], .plainTar), (["tar", "-c", "--format=v7", "/etc/hostname"], .plainTar),
    ] as [([String], FileSignature)] {
      let output = try Self.run(tool, input: Array("some text".utf8)).output
      #expect(identify(output) == expected, "\(tool)")
    }
    #expect(identify([]) == .empty)
    #expect(identify([0x50, 0x4B, 3, 4, 0]) == .zip)
    #expect(identify([UInt8](repeating: 0, count: 512)) == .plainTar)
    #expect(identify(Array("hello".utf8)) == .unknown)
    #expect(identify([0x5D, 0x2A, 0x4D, 0x18]) == .zstd)
    for signature in FileSignature.allCases {
      #expect((signature.advice == nil) == (signature == .zstd || signature == .plainTar))
    }
  }

  /// A tar may begin with any name, also with one that begins as zstd does.
  @Test func aTarWhoseFirstNameLooksLikeZstdIsATar() {
    var block = [UInt8](repeating: 0, count: 512)
    block.replaceSubrange(0..<4, with: [0x28, 0xB5, 0x2F, 0xFD])
    block.replaceSubrange(124..<135, with: Array("00000000000".utf8))
    let sum = block.reduce(8 * 32) { $0 + Int($1) }
    #expect(FileSignature.identify(block.span) == .zstd)
    block.replaceSubrange(
      148..<155,
      with: Array(String(sum, radix: 8).utf8) + [UInt8](repeating: 0, count: 7 - String(sum, radix: 8).utf8.count))
    #expect(FileSignature.identify(block.span) == .plainTar)
  }

  /// Bytes behind the last frame that are too few for a header begin one, or cannot.
  @Test(
    arguments: [
      ([], true), ([0x28], true), ([0x28, 0xB5, 0x2F], true), ([0x5F], true), ([0x53, 0x2A, 0x4D], true),
      ([0x67], false), ([0x28, 0xB6], false), ([0x50, 0x2A, 0x4E], false), ([0], false),
    ] as [([UInt8], Bool)])
  func beginningsOfFrames(_ bytes: [UInt8], _ isBeginning: Bool) {
    #expect(ZstdFraming.mayBegin(bytes.span) == isBeginning)
  }
}
