import ArchiveEngine
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

/// Errors that a file system reports only when a file is closed.
struct LateErrorTests {
  @Test("A file in parts that cannot be closed fails the run, is named, and nothing is left", arguments: [false, true])
  func closing(isPiped: Bool) async {
    await #expect(processExitsWith: .success) { [isPiped] in
      let directory = try TemporaryDirectory(.memory)
      try FileManager.default.createDirectory(atPath: directory.file("t"), withIntermediateDirectories: true)
      try FileTree.write(
        Engine.repeated(Array("a line\n".utf8), byteCount: 400_000), to: directory.file("t/large"))
      let archive = try Engine.archive(directory.file("t"), chunk: 64 << 10)
      let path = directory.file("a")
      try FileTree.write(archive, to: path)
      for (errno, code) in [(EIO, ArchiveError.Code.system), (ENOSPC, .noSpace), (EDQUOT, .noSpace)] {
        for isLenient in [false, true] {
          func extract(_ reader: ArchiveReader) throws {
            var options = ExtractOptions()
            options.syncs = false
            options.isLenient = isLenient
            _ = try reader.extract(to: Array(directory.file("out").utf8), options: options)
          }
          func run() throws {
            guard isPiped else { return try extract(ArchiveReader(path: Array(path.utf8), threadCount: 2)) }
            try Engine.withPipe(archive) { try extract(ArchiveReader(descriptor: $0, threadCount: 2)) }
          }
          // Of all that is closed here only the file was written to.
          FaultInjection.arm("close", nth: 1, kind: .error(errno), andAllLater: true)
          let error = #expect(throws: ArchiveError.self) { try run() }
          FaultInjection.disarm()
          #expect(error?.code == code && error?.path == Array("tree/large".utf8), "\(String(describing: error))")
          #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["a", "t"])
        }
      }
    }
  }
}
