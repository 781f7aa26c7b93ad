import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

/// What a run takes it gives back, whether it ends well or not: descriptors, and memory for buffers and contexts.
struct ReleaseTests {
  private enum Ending: String, CaseIterable, Sendable { case whole, cut, cancelled }

  private static func descriptorCount() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  @Test(arguments: ["create", "extract", "verify", "list", "compare", "cat"], [false, true])
  func runsGiveBackWhatTheyTake(verb: String, isPiped: Bool) async {
    await #expect(processExitsWith: .success) { [verb, isPiped] in
      let directory = try TemporaryDirectory(.memory)
      let tree = directory.file("t")
      try Engine.makeTree(tree, seed: 1, fileCount: 20, largeByteCount: 10_000)
      let archive = try Engine.archive(tree, chunk: 64 << 10) { $0.manifest = [("a", "b")] }
      #expect(archive.count < 60_000)
      func run(_ ending: Ending) throws {
        let token = CancellationToken()
        if ending == .cancelled { token.cancel() }
        let bytes = ending == .cut ? Array(archive.prefix(archive.count - 300)) : archive
        let (reading, writing) = try Engine.makePipe()
        let end = SharedDescriptor(Descriptor(adopting: writing))
        if verb == "create" {
          var options = WriterOptions()
          options.chunkByteCount = 64 << 10
          options.threadCount = 2
          let null = try FileSystem.open(at: FileSystem.currentDirectory, Array("/dev/null".utf8), .writeOnly)
          let writer = try ArchiveWriter(
            to: isPiped ? end.rawValue : null.rawValue, options: options, cancellation: token)
          try writer.appendTree(at: Array(tree.utf8), as: Array("tree".utf8))
          if ending != .cut { _ = try writer.finish() }
          return
        }
        let path = directory.file("a")
        try FileTree.write(bytes, to: path)
        func use(_ reader: ArchiveReader) throws {
          switch verb {
          case "extract":
            var options = ExtractOptions()
            options.syncs = false
            defer { try? FileManager.default.removeItem(atPath: directory.file("out")) }
            _ = try reader.extract(to: Array(directory.file("out").utf8), options: options)
          case "verify": _ = try reader.verify()
          case "list": try reader.list { _ in }
          case "compare": _ = try reader.compare(with: Array(directory.path.utf8)) { _ in }
          default: try reader.read(Array("tree/text.bin".utf8), to: MemorySink())
          }
        }
        guard isPiped else {
          return try use(ArchiveReader(path: Array(path.utf8), threadCount: 2, cancellation: token))
        }
        try Engine.withPipe(bytes) { try use(ArchiveReader(descriptor: $0, threadCount: 2, cancellation: token)) }
        withExtendedLifetime(reading) {}
      }
      func round() {
        for ending in Ending.allCases { try? run(ending) }
      }
      for _ in 0..<8 { round() }
      let (descriptors, memory) = (try Self.descriptorCount(), try ProcessMemory.anonymousByteCount())
      for _ in 0..<40 { round() }
      let after = try Self.descriptorCount()
      #expect(after <= descriptors, "\(descriptors) descriptors, then \(after)")
      let growth = try ProcessMemory.anonymousByteCount() - memory
      // A decompression context alone has 90 KiB, of which 120 runs would leave as many.
      #expect(growth < 6 << 20, "\(growth) bytes more")
    }
  }
}
