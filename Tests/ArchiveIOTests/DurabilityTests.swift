import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

/// What is complete is on the disk before it has its name, and the name after it. Each test runs in a process of its own, as there is one fault a process.
@Suite(.timeLimit(.minutes(10)), .enabled(if: FaultInjection.arm("none", nth: 1, kind: .none), "needs a debug build"))
struct DurabilityTests {
  /// How often a call is made.
  private static func count(_ call: String, _ body: () throws -> Void) throws -> Int {
    FaultInjection.arm(call, nth: .max, kind: .error(EIO))
    defer { FaultInjection.disarm() }
    try body()
    return FaultInjection.callCount
  }

  @Test func anOutputFileIsSyncedBeforeAndAfterItIsRenamed() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      let path = directory.file("f")
      func write(_ contents: [UInt8], sync: Bool) throws {
        let file = try OutputFile(path: Array(path.utf8))
        try DescriptorWriter(file.descriptor).write(contents)
        try file.commit(sync: sync)
      }
      #expect(try Self.count("fsync") { try write([1], sync: true) } == 2)
      #expect(try Self.count("fsync") { try write([1], sync: false) } == 0)
      // The first is that of the contents: if it fails the old file stays. The second comes when the name is there.
      for (nth, contents) in [(1, [1]), (2, [2])] as [(Int, [UInt8])] {
        try write([1], sync: false)
        FaultInjection.arm("fsync", nth: nth, kind: .error(EIO))
        #expect(throws: SystemError.self) { try write([2], sync: true) }
        FaultInjection.disarm()
        #expect(try FileTree.read(path) == contents, "fsync \(nth)")
      }
    }
  }

  @Test func aStagedDirectoryIsSyncedBeforeAndAfterItIsRenamed() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      func make(_ name: String, sync: Bool) throws {
        let staging = try StagingDirectory(path: Array(directory.file(name).utf8))
        try staging.commit(sync: sync)
      }
      #expect(try Self.count("syncfs") { try make("a", sync: true) } == 1)
      #expect(try Self.count("syncfs") { try make("b", sync: false) } == 0)
      #expect(try Self.count("fsync") { try make("c", sync: true) } == 1)
      for (call, exists) in [("syncfs", false), ("fsync", true)] {
        FaultInjection.arm(call, nth: 1, kind: .error(EIO))
        #expect(throws: SystemError.self) { try make(call, sync: true) }
        FaultInjection.disarm()
        #expect(FileManager.default.fileExists(atPath: directory.file(call)) == exists, "\(call)")
      }
    }
  }
}
