import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport

/// Collects what a writer writes; can fail at the n-th write, or do something before each.
final class MemorySink: ArchiveSink {
  private let bytes = Locked<[UInt8]>([])
  private let writes = Locked(0)
  private let failingWrite: Int?
  private let before: @Sendable (Int) -> Void

  init(failingWrite: Int? = nil, before: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.failingWrite = failingWrite
    self.before = before
  }

  func write(_ piece: RawSpan) throws(ArchiveError) {
    let number = writes.withLock { count in
      count += 1
      return count
    }
    before(number)
    if number == failingWrite { throw ArchiveError(.noSpace, "the sink is full") }
    let copy = unsafe piece.withUnsafeBytes { unsafe Array($0) }
    bytes.withLock { $0 += copy }
  }

  var content: [UInt8] { bytes.withLock { $0 } }
}

enum Engine {
  /// A tree of seeded files: many small, some large, some that do not compress.
  static func makeTree(_ path: String, seed: UInt64, fileCount: Int, largeByteCount: Int = 0) throws {
    var random = SplitMix64(seed: seed)
    for index in 0..<fileCount {
      let directory = "\(path)/d\(random.next() % 9)/e\(random.next() % 5)"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let size = Int(random.next() % (1 << (random.next() % 15)))
      let text = Array("line \(random.next() % 100) of file \(index)\n".utf8)
      let content = index % 7 == 0 ? random.bytes(size) : repeated(text, byteCount: size)
      try FileTree.write(content, to: "\(directory)/f\(index)")
    }
    if largeByteCount > 0 {
      try FileTree.write(random.bytes(largeByteCount), to: "\(path)/random.bin")
      try FileTree.write([UInt8](repeating: 65, count: largeByteCount + 777), to: "\(path)/text.bin")
    }
    try FileManager.default.createSymbolicLink(atPath: "\(path)/link", withDestinationPath: "d0")
    try FileManager.default.linkItem(atPath: "\(path)/link", toPath: "\(path)/link2")
  }

  /// A line, so often that it fills so many bytes; by doubling, as tests run without optimization.
  static func repeated(_ line: [UInt8], byteCount: Int) -> [UInt8] {
    var content = line
    while content.count < byteCount { content += content }
    return Array(content.prefix(byteCount))
  }

  /// A caller's stream that gives at most `step` bytes at once.
  static func stream(_ content: [UInt8], step: Int) -> (inout OutputRawSpan) throws(ArchiveError) -> Void {
    var offset = 0
    return { span throws(ArchiveError) in
      let count = min(content.count - offset, step, span.freeCapacity)
      unsafe span.withUnsafeMutableBytes { buffer, initializedCount in
        unsafe content.withUnsafeBytes {
          unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[initializedCount..<initializedCount + count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
        }
        initializedCount += count
      }
      offset += count
    }
  }

  /// The archive of a tree.
  static func archive(
    _ path: String, threads: Int = 2, isSerial: Bool = false, level: Int = 3, chunk: Int = 256 << 10,
    _ change: (inout WriterOptions) -> Void = { _ in }
  ) throws -> [UInt8] {
    var options = WriterOptions()
    options.threadCount = threads
    options.isSerial = isSerial
    options.level = level
    options.chunkByteCount = chunk
    change(&options)
    let sink = MemorySink()
    let writer = try ArchiveWriter(to: sink, options: options)
    try writer.appendTree(at: Array(path.utf8), as: Array("tree".utf8))
    _ = try writer.finish()
    return sink.content
  }

  /// A reader of bytes in a file of the test's directory.
  static func reader(_ bytes: [UInt8], in directory: TemporaryDirectory, threads: Int = 2) throws -> ArchiveReader {
    let path = directory.file("archive-\(UInt64.random(in: 0 ... .max))")
    try FileTree.write(bytes, to: path)
    return try ArchiveReader(path: Array(path.utf8), threadCount: threads)
  }

  /// The data frames and the others of an archive, in order.
  static func frames(_ archive: [UInt8]) throws -> (data: [[UInt8]], others: [[UInt8]]) {
    var result: (data: [[UInt8]], others: [[UInt8]]) = ([], [])
    var position = 0
    while position < archive.count {
      var walker = ZstdFrameWalker()
      let (consumed, isComplete) = try walker.consume(archive.span, in: position..<archive.count)
      precondition(isComplete)
      let frame = Array(archive[position..<position + consumed])
      if case .data? = walker.header { result.data.append(frame) } else { result.others.append(frame) }
      position += consumed
    }
    return result
  }
}
