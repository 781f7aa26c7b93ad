import ArchiveFormat

/// Makes members over the whole range of every field, with a bias to the limits.
struct TarMemberGenerator {
  var random: TarTestGenerator

  init(seed: UInt64) { random = TarTestGenerator(seed: seed) }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  /// A component without "/" and NUL that is neither "." nor "..".
  private mutating func component(_ count: Int, isText: Bool) -> [UInt8] {
    var out: [UInt8] = []
    while out.count < count {
      if isText {
        out.append(
          contentsOf: count - out.count > 1 && chance(20)
            ? [0xC3, 0xA9] : [UInt8.random(in: 0x61...0x7A, using: &random)])
      } else {
        let byte = UInt8.random(in: 1...255, using: &random)
        out.append(byte == 0x2F ? 0xFF : byte)
      }
    }
    return out.allSatisfy { $0 == 0x2E } ? [UInt8](repeating: 0x78, count: count) : out
  }

  mutating func path(isText: Bool? = nil) -> [UInt8] {
    let isText = isText ?? chance(70)
    let total = pick([
      1, 2, 10, 50, 98, 99, 100, 101, 102, 154, 155, 156, 157, 254, 255, 256, 257, 511, 512, 513, 4095, 4096,
    ])
    var out: [UInt8] = []
    while out.count < total {
      let rest = total - out.count
      let count = min(rest, pick([1, 5, 20, 99, 100, 101, 155, 255]))
      out += component(count, isText: isText)
      if out.count + 1 < total { out.append(0x2F) } else { break }
    }
    return out
  }

  private mutating func id() -> UInt64 {
    pick([0, 1, 1000, 0o7777777, 0o10000000, 0xFFFF_FFFE, 0xFFFF_FFFF, random.next() >> 32])
  }

  private mutating func ownerName() -> [UInt8] {
    let count = pick([0, 1, 4, 30, 31, 32, 33, 100])
    return count == 0 ? [] : component(count, isText: chance(80))
  }

  private mutating func time() -> Timestamp {
    let seconds: Int64 = pick([
      0, 1, -1, 1_700_000_000, 8_589_934_591, 8_589_934_592, -2, .min, .max, Int64(truncatingIfNeeded: random.next()),
      Int64.random(in: -5_000_000_000...5_000_000_000, using: &random),
    ])
    return Timestamp(
      seconds: seconds,
      nanoseconds: pick([
        0, 0, 1, 500_000_000, 999_999_999, 120_000_000, UInt32.random(in: 0..<1_000_000_000, using: &random),
      ]))
  }

  private mutating func size() -> UInt64 {
    pick([
      0, 1, 511, 512, 513, 0o77777777777, 0o100000000000, 1 << 60, UInt64.random(in: 0...(1 << 60), using: &random),
    ])
  }

  private mutating func attributes() -> [ExtendedAttribute] {
    guard chance(30) else { return [] }
    var found: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      var name = component(Int.random(in: 1...20, using: &random), isText: chance(50))
      if chance(30) { name += pick([Array("=%".utf8), Array("%25".utf8), Array("%3D=".utf8), Array("%".utf8)]) }
      let count = pick([0, 1, 90, 91, 92, 93, 994, 995, 996, 5000])
      found[name] = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    return found.map { ExtendedAttribute(name: $0.key, value: $0.value) }
      .sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  private mutating func makeSparse(_ member: inout Member) {
    var extents: [SparseExtent] = []
    var offset: UInt64 = 0
    for _ in 0..<pick([0, 1, 2, 3, 50, 300]) {
      offset += pick([0, 1, 512, 4096, 1 << 33])
      let count = UInt64(pick([512, 1024, 65536]))
      extents.append(SparseExtent(offset: offset, byteCount: count))
      offset += count
    }
    if chance(30), !extents.isEmpty {
      extents[extents.count - 1].byteCount -= 511
      offset -= 511
    }
    member.byteCount = offset + pick([0, 0, 1, 1 << 40])
    member.sparseExtents = extents
  }

  mutating func member() -> Member {
    var member = Member(
      path: path(), kind: pick(MemberKind.allCases), mode: UInt32.random(in: 0...0o7777, using: &random))
    if member.kind == .directory, chance(20) { member.path = [0x2E] }
    member.userID = id()
    member.groupID = id()
    member.userName = ownerName()
    member.groupName = ownerName()
    member.modificationTime = time()
    member.extendedAttributes = attributes()
    if chance(20) { member.accessACL = Array("user::rw-,user:1000:r--,group::r--,mask::r--,other::---".utf8) }
    if chance(10) { member.defaultACL = Array("user::rwx\ngroup::r-x\nother::---\n".utf8) }
    switch member.kind {
    case .file: if chance(30) { makeSparse(&member) } else { member.byteCount = size() }
    case .symlink: member.linkTarget = chance(30) ? Array("../../a//b/./c/".utf8) : path()
    case .hardlink: member.linkTarget = path()
    case .characterDevice, .blockDevice:
      member.deviceMajor = pick([0, 1, 255, 0o7777777])
      member.deviceMinor = pick([0, 1, 255, 0o7777777])
    case .directory, .fifo: break
    }
    return member
  }
}
