import ArchiveFormat
import ArchiveIO
import TestSupport
import Testing

@testable import ArchiveEngine

/// What grows with the work takes at most 16 bytes an item in memory.
struct TableTests {
  /// A path's hash as the engine takes it.
  private static func hash(_ path: String) -> UInt64 {
    let bytes = Array(path.utf8)
    return XXH3.hash64(bytes.span)
  }

  @Test func namesAreFoundWithTheirKind() {
    var (table, model) = (NameTable(), [UInt64: NameTable.Entry]())
    var random = SplitMix64(seed: 5)
    for number in 0..<50_000 {
      // Few enough to come again, and the corners where a key could look like "no entry" or collide by its lowest bit.
      let hash =
        number % 100 == 0 ? [0, 1, 2, .max, 1 << 63][number / 100 % 5] : Self.hash("\(random.next() % 30_000)")
      let entry: NameTable.Entry = random.next() % 2 == 0 ? .directory : .other
      let key = hash < 2 ? 3 : hash | 1
      if table.find(hash) != model[key] { Issue.record("\(hash) in step \(number)") }
      table.set(hash, entry)
      model[key] = entry
    }
    #expect(table.count == model.count)
    #expect(model.allSatisfy { table.find($0.key) == $0.value })
    #expect(table.find(Self.hash("not there")) == nil)
  }

  /// What the arrays that a table keeps have room for, in bytes.
  private static func capacity(of table: Any) -> Int {
    var sum = 0
    for child in Mirror(reflecting: table).children {
      if let slots = child.value as? [UInt64] { sum += slots.capacity * 8 }
      if child.label == "shards" {
        for shard in Mirror(reflecting: child.value).children { sum += capacity(of: shard.value) }
      }
    }
    return sum
  }

  @Test func namesTakeAtMostFourteenBytes() {
    var table = NameTable()
    var random = SplitMix64(seed: 6)
    var most = 0.0
    for goal in stride(from: 20_000, through: 200_000, by: 5000) {
      while table.count < goal { table.set(random.next(), .other) }
      most = max(most, Double(Self.capacity(of: table)) / Double(goal))
    }
    #expect(most > 8 && most <= 14.1, "\(most) bytes each")
  }

  /// With what the allocator adds.
  @Test func namesTakeLittleResidentMemory() async {
    await #expect(processExitsWith: .success) {
      let before = try ProcessMemory.anonymousByteCount()
      var table = NameTable()
      var random = SplitMix64(seed: 6)
      for _ in 0..<400_000 { table.set(random.next(), .other) }
      let each = try Double(ProcessMemory.anonymousByteCount() - before) / 400_000
      #expect(each <= 18, "\(each) bytes each")
      #expect(table.find(0) == nil)
    }
  }

  @Test func hardLinksTakeAtMostSixteenBytes() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      var status = try FileSystem.status(of: directory.root.rawValue)
      func path(_ number: Int) -> [UInt8] { Array("some/directory/with/a/name/file-\(number)".utf8) }
      // The store's own buffers are of a fixed size: they are filled first.
      var table = HardLinkTable()
      for number in 0..<5000 {
        (status.device, status.inode) = (1, UInt64(number))
        #expect(try table.path(of: status, orRemember: path(number)) == nil)
      }
      let before = try ProcessMemory.anonymousByteCount()
      let count = 120_000
      for number in 5000..<count {
        // Inode numbers repeat across devices.
        (status.device, status.inode) = (UInt64(number % 2), UInt64(number / 2 + 5000))
        _ = try table.path(of: status, orRemember: path(number))
      }
      let each = try Double(ProcessMemory.anonymousByteCount() - before) / Double(count - 5000)
      #expect(each <= 16, "\(each) bytes each")
      for number in stride(from: 5000, to: count, by: 97) {
        (status.device, status.inode) = (UInt64(number % 2), UInt64(number / 2 + 5000))
        let found = try table.path(of: status, orRemember: [])
        #expect(found == path(number), "\(number)")
      }
      for number in stride(from: 0, to: 5000, by: 7) {
        (status.device, status.inode) = (1, UInt64(number))
        #expect(try table.path(of: status, orRemember: []) == path(number))
      }
    }
  }

  @Test func directoriesTakeAtMostSixteenBytes() async {
    await #expect(processExitsWith: .success) {
      var records = DirectoryRecords()
      func add(_ number: Int) throws {
        let path = Array("d\(number % 100)/some-directory/with-a-long-name-\(number)".utf8)
        var member = Member(path: path, kind: .directory)
        member.userName = Array("somebody".utf8)
        member.extendedAttributes = [ExtendedAttribute(name: Array("user.a".utf8), value: Array("value".utf8))]
        try records.add(member, path: path, status: nil)
      }
      for number in 0..<3000 { try add(number) }
      let before = try ProcessMemory.anonymousByteCount()
      for number in 3000..<60_000 { try add(number) }
      let each = try Double(ProcessMemory.anonymousByteCount() - before) / 57_000
      #expect(each <= 18, "\(each) bytes each")
    }
  }
}
