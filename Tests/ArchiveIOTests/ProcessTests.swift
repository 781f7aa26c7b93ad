import ArchiveIO
import TestSupport
import Testing

@Suite
struct ProcessTests {
  @Test("The umask is read without being changed")
  func umask() throws {
    let text = try Shell.script("umask")
    #expect(UInt32(text.trimmed, radix: 8) == ProcessFacts.fileModeMask)
  }

  @Test("Cores and free space")
  func facts() throws {
    #expect(ProcessFacts.availableCores == Int(try Shell.script("nproc").trimmed))
    let directory = try TemporaryDirectory()
    #expect(try ProcessFacts.freeSpace(of: directory.root.rawValue).bytes > 0)
    #expect(ProcessFacts.environment("PATH") != nil)
    #expect(ProcessFacts.environment("STARC_NOT_SET") == nil)
  }

  @Test("Names and ids of users and groups")
  func owners() {
    let names = OwnerNames()
    for _ in 0..<2 {
      #expect(names.userName(0) == Array("root".utf8))
      #expect(names.groupName(0) == Array("root".utf8))
      #expect(names.userID(Array("root".utf8)) == 0)
      #expect(names.groupID(Array("root".utf8)) == 0)
      #expect(names.userName(3_999_999_999) == [])
      #expect(names.userID(Array("no such user".utf8)) == nil)
    }
    #expect(names.userID([]) == nil)
    #expect(names.userID([0x72, 0, 0x6F]) == nil)
    #expect(names.groupID([UInt8](repeating: 0x61, count: 5000)) == nil)
    for identifier in UInt32(100_000)..<UInt32(100_050) { #expect(names.groupName(identifier) == []) }
  }

  @Test("What is appended can be read back, across memory, file and pending bytes", arguments: [0, 1, 1000, 1 << 20])
  func spill(memoryLimit: Int) throws {
    var random = SplitMix64(seed: 7)
    let store = SpillStore(memoryLimit: memoryLimit)
    var all: [UInt8] = []
    for size in [1, 10, 999, 65536, 3, 0, 200_000, 17] {
      let bytes = random.bytes(size)
      #expect(try store.append(bytes) == Int64(all.count))
      all += bytes
    }
    #expect(store.byteCount == Int64(all.count))
    #expect(try store.read(at: 0, count: all.count) == all)
    for _ in 0..<200 {
      let start = Int.random(in: 0...all.count, using: &random)
      let count = Int.random(in: 0...(all.count - start), using: &random)
      #expect(try store.read(at: Int64(start), count: count) == Array(all[start..<(start + count)]))
    }
    #expect(throws: SystemError.self) { try store.read(at: Int64(all.count), count: 1) }
    #expect(throws: SystemError.self) { try store.read(at: -1, count: 1) }
    #expect(throws: SystemError.self) { try store.read(at: 1, count: .max) }
  }

  @Test("The generator of test numbers is the published one")
  func splitMix() {
    var random = SplitMix64(seed: 1_234_567)
    #expect(random.next() == 6_457_827_717_110_365_317)
    #expect(random.next() == 3_203_168_211_198_807_973)
  }
}

extension String {
  var trimmed: String { String(self.split(whereSeparator: \.isNewline).first ?? "") }
}
