import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

/// The pipeline against its serial twin, failures and cancellation. Also run under the sanitizers.
@Suite(.inTemporaryDirectory(.memory)) struct PipelineSanitized {
  private func directory() throws -> TemporaryDirectory { try #require(TemporaryDirectory.current) }

  @Test(arguments: [(3, 64 << 10), (0, 64 << 10), (1, 256 << 10), (3, 4 << 20)])
  func bytesDoNotDependOnThreads(level: Int, chunk: Int) throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: UInt64(level + chunk), fileCount: 400, largeByteCount: 300_000)
    let serial = try Engine.archive(directory.file("t"), isSerial: true, level: level, chunk: chunk)
    for threads in [1, 2, 3, 8] {
      #expect(try Engine.archive(directory.file("t"), threads: threads, level: level, chunk: chunk) == serial)
    }
    let report = try Engine.reader(serial, in: directory).verify()
    #expect(report.isHealthy, "\(report.damages)")
    #expect(try Engine.reader(serial, in: directory).verify(quick: true).isHealthy)
  }

  @Test func headersLargerThanASlotAreSplitTheSameWay() throws {
    var archives: Set<[UInt8]> = []
    for threads in [0, 1, 4] {
      var options = WriterOptions()
      options.chunkByteCount = 64 << 10
      options.isSerial = threads == 0
      options.threadCount = threads
      let sink = MemorySink()
      let writer = try ArchiveWriter(to: sink, options: options)
      for index in 0..<12 {
        var member = Member(path: Array("m\(index)".utf8), kind: .file)
        member.extendedAttributes = [
          ExtendedAttribute(name: Array("user.big".utf8), value: [UInt8](repeating: UInt8(index), count: 900 << 10))
        ]
        try writer.append(member, content: Array("content \(index)".utf8))
      }
      _ = try writer.finish()
      archives.insert(sink.content)
    }
    #expect(archives.count == 1)
    let directory = try directory()
    let archive = try #require(archives.first)
    #expect(try Engine.reader(archive, in: directory).verify().isHealthy)
    var count = 0
    try Engine.reader(archive, in: directory).list { listed throws(ArchiveError) in
      count += 1
      #expect(listed.member.extendedAttributes.first?.value.count == 900 << 10)
    }
    #expect(count == 12)
  }

  /// At every write until none fails any more, those behind the last member included.
  @Test(arguments: [0, 1, 4]) func aFailingSinkEndsTheRunWithItsError(threads: Int) throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 5, fileCount: 120, largeByteCount: 150_000)
    let whole = try Engine.archive(directory.file("t"), isSerial: true, chunk: 64 << 10)
    var number = 0
    var isWhole = false
    while !isWhole {
      number += 1
      let sink = MemorySink(failingWrite: number)
      var options = WriterOptions()
      options.chunkByteCount = 64 << 10
      options.isSerial = threads == 0
      options.threadCount = threads
      let writer = try ArchiveWriter(to: sink, options: options)
      do {
        try writer.appendTree(at: Array(directory.file("t").utf8), as: Array("tree".utf8))
        _ = try writer.finish()
        isWhole = true
      } catch {
        #expect(error.code == .noSpace, "write \(number): \(error)")
        // The first failure is also what every later call says.
        #expect(throws: ArchiveError.self) { _ = try writer.finish() }
      }
      // Nothing is written behind the failure, and what came before it is the archive's beginning.
      let isBeginning = whole.starts(with: sink.content) && (sink.content.count == whole.count) == isWhole
      #expect(isBeginning, "write \(number)")
    }
    #expect(number > 10)
  }

  @Test func aFullDiskIsToldAsOne() throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 5, fileCount: 50, largeByteCount: 150_000)
    let full = try FileSystem.open(at: FileSystem.currentDirectory, Array("/dev/full".utf8), .writeOnly)
    let error = #expect(throws: ArchiveError.self) {
      let writer = try ArchiveWriter(to: full.rawValue)
      try writer.appendTree(at: Array(directory.file("t").utf8), as: Array("t".utf8))
      _ = try writer.finish()
    }
    #expect(error?.code == .noSpace, "\(String(describing: error))")
  }

  @Test func manyRunsAtOnceInOneProcess() async throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 77, fileCount: 150)
    let tree = directory.file("t")
    let expected = try Engine.archive(tree, isSerial: true, chunk: 64 << 10)
    let results = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<6 {
        group.addTask {
          let archive = try? await ArchiveTask.run { token throws(ArchiveError) in
            var options = WriterOptions()
            options.threadCount = 2
            options.chunkByteCount = 64 << 10
            let sink = MemorySink()
            let writer = try ArchiveWriter(to: sink, options: options, cancellation: token)
            try writer.appendTree(at: Array(tree.utf8), as: Array("tree".utf8))
            _ = try writer.finish()
            return sink.content
          }
          return archive == expected
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results == [Bool](repeating: true, count: 6))
  }

  @Test func extractionIsTheSameForAnyNumberOfThreads() throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 21, fileCount: 400, largeByteCount: 500_000)
    let archive = try Engine.archive(directory.file("t"), chunk: 64 << 10)
    for threads in [1, 2, 8] {
      let out = directory.file("out\(threads)")
      var options = ExtractOptions()
      options.syncs = false
      let summary = try Engine.reader(archive, in: directory, threads: threads).extract(
        to: Array(out.utf8), options: options)
      #expect(summary.warningCount == 0)
      #expect(try Engine.reader(archive, in: directory).compare(with: Array(out.utf8)) { Issue.record("\($0)") } == 0)
    }
  }
}
