import ArchiveEngine
import ArchiveFormat
import TestSupport
import Testing

/// Adding, removing or editing one small file leaves all but three data frames as they are.
@Suite struct ChunkStabilityTests {
  private struct File {
    var path: [UInt8]
    var content: [UInt8]
    var time: Int64 = 1_600_000_000
  }

  /// A tree in memory: directories with their times, and files with the sizes of a source tree, an eighth as large.
  private struct Tree {
    var directories: [(path: [UInt8], time: Int64)] = []
    var files: [[File]] = []

    init(seed: UInt64, fileCount: Int) {
      var random = SplitMix64(seed: seed)
      let line = Array("static int value = 0;\n".utf8)
      var made = 0
      while made < fileCount {
        let name = Array("d\(directories.count / 12)x/e\(directories.count)y".utf8)
        directories.append((name, 1_600_000_000))
        var list: [File] = []
        for index in 0..<1 + Int(random.next() % 40) where made < fileCount {
          // Log-uniform from 32 bytes to 16 KiB: a median of 700 bytes and few large ones.
          let size = Int(UInt64(32) << (random.next() % 9)) + Int(random.next() % 64)
          let salt = random.bytes(size / 3)
          list.append(
            File(
              path: name + Array("/f\(index)".utf8),
              content: Array((salt + Engine.repeated(line, byteCount: size)).prefix(size))))
          made += 1
        }
        files.append(list)
      }
    }

    func frames() throws -> Set<[UInt8]> {
      var options = WriterOptions()
      options.chunkByteCount = 64 << 10
      options.level = 1
      options.threadCount = 2
      let sink = MemorySink()
      let writer = try ArchiveWriter(to: sink, options: options)
      for (directory, files) in zip(directories, files) {
        try writer.append(
          Member(
            path: directory.path, kind: .directory, mode: 0o755, modificationTime: Timestamp(seconds: directory.time)))
        for file in files {
          try writer.append(
            Member(path: file.path, kind: .file, modificationTime: Timestamp(seconds: file.time)), content: file.content
          )
        }
      }
      _ = try writer.finish()
      return Set(try Engine.frames(sink.content).data)
    }
  }

  @Test func anEditLeavesAllButThreeFrames() throws {
    let tree = Tree(seed: 11, fileCount: 3000)
    let before = try tree.frames()
    #expect(before.count > 60)
    #expect(try tree.frames() == before)
    var lost: [Int] = []
    for seed in 0..<30 as Range<UInt64> {
      var random = SplitMix64(seed: seed &* 101)
      var edited = tree
      var directory = Int(random.next() % UInt64(tree.files.count))
      while tree.files[directory].isEmpty { directory = (directory + 1) % tree.files.count }
      let place = Int(random.next() % UInt64(tree.files[directory].count))
      let content = random.bytes(Int(random.next() % 3000))
      switch seed % 3 {
      case 0:
        edited.files[directory][place].content = content
        edited.files[directory][place].time += 1
      case 1:
        edited.files[directory].remove(at: place)
        edited.directories[directory].time += 1
      default:
        let path = tree.files[directory][place].path + Array("-new".utf8)
        edited.files[directory].insert(File(path: path, content: content), at: place + 1)
        edited.directories[directory].time += 1
      }
      lost.append(before.subtracting(try edited.frames()).count)
    }
    print("data frames lost by an edit, of \(before.count): \(lost)")
    #expect(lost.allSatisfy { $0 >= 1 }, "an edit that changes nothing: \(lost)")
    // At least 95 of 100.
    #expect(lost.count { $0 <= 3 } * 20 >= lost.count * 19, "\(lost)")
    #expect(lost.allSatisfy { $0 <= 5 }, "\(lost)")
  }
}
