import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

/// Ten times the input takes no more memory. Each case runs in a process of its own: first small, then large; the peak may hardly
/// grow in between.
@Suite(.serialized) struct MemoryTests {
  private static let slack = 12 << 20

  /// A mebibyte that compresses to a half.
  private static func block() -> [UInt8] {
    var random = SplitMix64(seed: 1)
    return random.bytes(512 << 10) + [UInt8](repeating: 0x20, count: 512 << 10)
  }

  private static let options: WriterOptions = {
    var options = WriterOptions()
    options.level = 1
    options.threadCount = 2
    options.chunkByteCount = 1 << 20
    return options
  }()

  /// The block over and over.
  private static func stream(_ block: [UInt8]) -> (inout OutputRawSpan) throws(ArchiveError) -> Void {
    var inner = Engine.stream(block, step: .max)
    var left = block.count
    return { span throws(ArchiveError) in
      let before = span.byteCount
      try inner(&span)
      left -= span.byteCount - before
      if left == 0 { (inner, left) = (Engine.stream(block, step: .max), block.count) }
    }
  }

  private static func write(to path: String, mebibytes: Int) throws {
    let output = try FileSystem.open(
      at: FileSystem.currentDirectory, Array(path.utf8), [.writeOnly, .create, .truncate], mode: 0o600)
    let writer = try ArchiveWriter(to: output.rawValue, options: options)
    // A large file, and as much in files that share chunks.
    let block = block()
    var large = Member(path: Array("large".utf8), kind: .file)
    large.byteCount = UInt64(mebibytes) << 19
    try writer.append(large, read: stream(block))
    let part = Array(block[450_000..<550_000])
    for number in 0..<mebibytes * 5 {
      try writer.append(Member(path: Array("small/\(number)".utf8), kind: .file), content: part)
    }
    _ = try writer.finish()
  }

  @Test func aWritersPeakDoesNotGrow() async {
    await #expect(processExitsWith: .success) {
      let before = try ProcessMemory.peakByteCount { try Self.write(to: "/dev/null", mebibytes: 20) }
      let growth = try ProcessMemory.peakByteCount { try Self.write(to: "/dev/null", mebibytes: 200) } - before
      #expect(growth < Self.slack, "\(growth) bytes more than \(before)")
    }
  }

  @Test(arguments: ["verify", "extract", "cat", "compare", "list"], [false, true])
  func aReadersPeakDoesNotGrow(verb: String, isPiped: Bool) async {
    await #expect(processExitsWith: .success) { [verb, isPiped] in
      let directory = try TemporaryDirectory(.memory)
      func run(_ mebibytes: Int) throws {
        let path = directory.file("a\(mebibytes)")
        func read(_ reader: ArchiveReader) throws {
          switch verb {
          case "verify": #expect(try reader.verify().isHealthy)
          case "extract":
            var options = ExtractOptions()
            options.syncs = false
            _ = try reader.extract(to: Array(directory.file("out\(mebibytes)").utf8), options: options)
          case "cat":
            let null = try FileSystem.open(at: FileSystem.currentDirectory, Array("/dev/null".utf8), .writeOnly)
            try reader.read(Array("large".utf8), to: null.rawValue)
          case "compare": _ = try reader.compare(with: Array(directory.file("tree\(mebibytes)").utf8)) { _ in }
          default: try reader.list { _ in }
          }
        }
        guard isPiped else { return try read(ArchiveReader(path: Array(path.utf8), threadCount: 2)) }
        let (reading, writing) = try Engine.makePipe()
        Thread {
          let end = SharedDescriptor(Descriptor(adopting: writing))
          guard let file = try? FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .readOnly),
            let writer = try? DescriptorWriter(end)
          else { return }
          var buffer = [UInt8](repeating: 0, count: 64 << 10)
          while let count = try? unsafe buffer.withUnsafeMutableBytes({
            try unsafe FileSystem.readFully(file.rawValue, into: $0)
          }), count > 0, (try? writer.write(Array(buffer[..<count]))) != nil {}
        }.start()
        try withExtendedLifetime(reading) { try read(ArchiveReader(descriptor: reading.rawValue, threadCount: 2)) }
      }
      for mebibytes in [20, 120] {
        try Self.write(to: directory.file("a\(mebibytes)"), mebibytes: mebibytes)
        if verb == "compare" {
          var options = ExtractOptions()
          options.syncs = false
          _ = try ArchiveReader(path: Array(directory.file("a\(mebibytes)").utf8))
            .extract(to: Array(directory.file("tree\(mebibytes)").utf8), options: options)
        }
      }
      let before = try ProcessMemory.peakByteCount { try run(20) }
      let growth = try ProcessMemory.peakByteCount { try run(120) } - before
      #expect(growth < Self.slack, "\(verb), piped \(isPiped): \(growth) bytes more than \(before)")
    }
  }

  /// What each member may leave behind is bounded too: names, and the sizes of pages.
  @Test func manyMembersTakeFewBytesEach() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      func write(_ count: Int) throws {
        let output = try FileSystem.open(
          at: FileSystem.currentDirectory, Array(directory.file("a\(count)").utf8), [.writeOnly, .create], mode: 0o600)
        let writer = try ArchiveWriter(to: output.rawValue, options: Self.options)
        for number in 0..<count {
          try writer.append(Member(path: Array("some/directory/file-\(number)".utf8), kind: .file), content: [])
        }
        _ = try writer.finish()
      }
      func read(_ count: Int) throws {
        let reader = try ArchiveReader(path: Array(directory.file("a\(count)").utf8), threadCount: 2)
        var seen = 0
        try reader.list { _ in seen += 1 }
        #expect(seen == count)
        #expect(try reader.verify().isHealthy)
      }
      for (name, body) in [("writing", write), ("reading", read)] as [(String, (Int) throws -> Void)] {
        let before = try ProcessMemory.peakByteCount { try body(10_000) }
        let growth = try ProcessMemory.peakByteCount { try body(40_000) } - before
        #expect(growth < 30_000 * 30 + Self.slack, "\(name): \(growth) bytes more than \(before)")
      }
    }
  }
}
