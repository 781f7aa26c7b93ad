/// Makes tar streams of members that try to write, link or change what lies outside, that collide, and that are odd.
struct HostileMembers {
  /// The absolute path of what nothing may touch.
  let outside: [UInt8]

  /// Members without the blocks that end an archive.
  func stream(_ choices: inout Choices) -> [UInt8] {
    var out: [UInt8] = []
    for _ in 0..<(1 + choices.below(12)) where choices.hasMore { out += member(&choices) }
    return out
  }

  private func name(_ choices: inout Choices) -> [UInt8] {
    switch choices.below(16) {
    case 0: return outside + Array("/keep".utf8)
    case 1: return Array("../outside/keep".utf8)
    case 2: return Array("a/../../outside/new".utf8)
    case 3: return [UInt8](repeating: 0x6C, count: choices.pick([99, 100, 101, 255, 256]))
    case 4: return choices.take(1 + choices.below(4))
    case 5...8: return Array(choices.pick(["a", "b", "c", "l", "d"]).utf8)
    default:
      let parts = ["a", "b", "l", "d", "keep", "c", ".", "..", "", "a"]
      return Array((0...choices.below(3)).map { _ in choices.pick(parts) }.joined(separator: "/").utf8)
    }
  }

  private func target(_ choices: inout Choices) -> [UInt8] {
    switch choices.below(8) {
    case 0: return outside
    case 1: return outside + Array("/keep".utf8)
    case 2: return Array("../outside".utf8)
    case 3: return Array("../outside/keep".utf8)
    case 4: return Array(choices.pick([".", "..", "../..", "a/b", "l/keep", "../out", "missing"]).utf8)
    default: return name(&choices)
    }
  }

  private func member(_ choices: inout Choices) -> [UInt8] {
    let name = name(&choices)
    let mode: UInt64 = choices.pick([0o644, 0o755, 0, 0o7777, 0o4755, 0o700, 0o1777, 0o444])
    let time: UInt64 = choices.pick([1, 1_700_000_000, 0, UInt64(bitPattern: -1), 1 << 33, UInt64(Int64.max)])
    let owner: UInt64 = choices.pick([0, 1000, 65534, 0, UInt64(UInt32.max), 1 << 40])
    var prefix = extendedHeaders(name, &choices)
    func header(_ type: Character, size: UInt64 = 0, link: [UInt8] = []) -> [UInt8] {
      if link.count > 100 { prefix += RawTar.extended("K", link + [0]) }
      return prefix
        + RawTar.header(
          name, type: type.asciiValue ?? 0, size: size, mode: mode, link: link, time: time, owner: owner)
    }
    switch choices.below(16) {
    case 0...2: return header("5")
    case 3...5: return header("2", link: target(&choices))
    case 6...8: return header("1", link: target(&choices))
    case 9: return header(choices.pick(["6", "3", "4", "7", "V", "g", "M", "\u{0}"]))
    case 10: return prefix + sparse(name, &choices)
    default:
      let data = data(&choices)
      let isWrong = choices.chance(oneIn: 24)
      return header("0", size: isWrong ? choices.number() : UInt64(data.count)) + RawTar.padded(data)
    }
  }

  private func data(_ choices: inout Choices) -> [UInt8] {
    let count = choices.pick([0, 1, 5, 511, 512, 513, 3000, 70_000])
    let first = choices.byte()
    return (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0 / 7) }
  }

  private func sparse(_ name: [UInt8], _ choices: inout Choices) -> [UInt8] {
    let map = SparseBody.Map(&choices)
    let right = choices.chance(oneIn: 4) ? map : SparseBody.Map(right: map)
    var text = Array("\(right.extents.count)\n".utf8)
    for extent in right.extents { text += Array("\(extent.offset)\n\(extent.byteCount)\n".utf8) }
    let block = RawTar.padded(text)
    let stored = Int(min(right.storedByteCount, 16384))
    let records =
      RawTar.record("GNU.sparse.major", "1") + RawTar.record("GNU.sparse.minor", "0")
      + RawTar.record(Array("GNU.sparse.name".utf8), name)
      + RawTar.record("GNU.sparse.realsize", "\(right.realByteCount)")
    return RawTar.extended("x", records)
      + RawTar.header(Array("s".utf8), type: 0x30, size: UInt64(block.count) &+ right.storedByteCount) + block
      + RawTar.padded([UInt8](repeating: choices.byte(), count: stored))
  }

  /// Long names, attributes and whatever else stands in front of a member.
  private func extendedHeaders(_ name: [UInt8], _ choices: inout Choices) -> [UInt8] {
    var out: [UInt8] = []
    if name.count > 100 { out += RawTar.extended("L", name + [0]) }
    switch choices.below(12) {
    case 0: out += RawTar.extended("x", RawTar.record("path", String(decoding: self.name(&choices), as: UTF8.self)))
    case 1: out += RawTar.extended("L", self.name(&choices) + [0])
    case 2: out += RawTar.extended("x", attribute(&choices) + attribute(&choices))
    case 3: out += RawTar.extended(choices.pick(["g", "x", "K", "A", "V"]), choices.take(choices.below(40)))
    default: break
    }
    return out
  }

  private func attribute(_ choices: inout Choices) -> [UInt8] {
    switch choices.below(6) {
    case 0: return RawTar.record("SCHILY.acl.access", "user::rw-,user:1000:r--,group::r--,mask::r--,other::---")
    case 1: return RawTar.record("SCHILY.acl.default", "user::rwx,group::r-x,other::---")
    case 2: return RawTar.record(Array("SCHILY.xattr.security.capability".utf8), [1, 0, 0, 2] + choices.take(16))
    case 3: return RawTar.record(Array("SCHILY.xattr.trusted.t".utf8), choices.take(3))
    case 4: return RawTar.record("mtime", choices.pick(["1.25", "-1.5", "9223372036854775807", "0"]))
    default: return RawTar.record(Array("SCHILY.xattr.user.u".utf8), choices.take(5))
    }
  }
}
