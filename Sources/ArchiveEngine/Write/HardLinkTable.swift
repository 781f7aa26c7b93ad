internal import ArchiveIO

/// Remembers under which archive path an inode was stored first.
///
/// 8 bytes an entry (at most 14 with free space) in memory: a tag of 20 bits of the inode's hash and the place of its record in a spill
/// store. Device and inode together are the key: inode numbers repeat across devices.
struct HardLinkTable {
  private static let offsetBits: UInt64 = 44

  private let store: SpillStore
  private var slots: [UInt64] = []
  private var count = 0

  init() { store = SpillStore() }

  /// The archive path of an inode; when it has none yet, `path` becomes it and the result is nil.
  mutating func path(of status: FileStatus, orRemember path: [UInt8]) throws(SystemError) -> [UInt8]? {
    if (count + 1) * 8 > slots.count * 7 { try grow() }
    let hash = Self.hash(status.device, status.inode)
    let tag = Self.tag(hash)
    var place = Self.place(hash, slots.count)
    while slots[place] != 0 {
      if Self.tag(slots[place]) == tag {
        let record = try read(slots[place])
        if record.device == status.device && record.inode == status.inode { return record.path }
      }
      place = place + 1 == slots.count ? 0 : place + 1
    }
    var record: [UInt8] = []
    for value in [status.device, status.inode, UInt64(path.count)] {
      for shift in stride(from: 0, to: 64, by: 8) { record.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }
    let offset = try store.append(record + path)
    slots[place] = tag | (UInt64(offset) + 1)
    count += 1
    return nil
  }

  private func read(_ slot: UInt64) throws(SystemError) -> (device: UInt64, inode: UInt64, path: [UInt8]) {
    let offset = Int64(slot & ((1 << Self.offsetBits) - 1)) - 1
    let head = try store.read(at: offset, count: 24)
    func number(_ start: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(head[start + $1]) << UInt64(8 * $1) } }
    return (number(0), number(8), try store.read(at: offset + 24, count: Int(number(16))))
  }

  private mutating func grow() throws(SystemError) {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(16, old.count * 3 / 2))
    for slot in old where slot != 0 {
      let record = try read(slot)
      var place = Self.place(Self.hash(record.device, record.inode), slots.count)
      while slots[place] != 0 { place = place + 1 == slots.count ? 0 : place + 1 }
      slots[place] = slot
    }
  }

  private static func tag(_ value: UInt64) -> UInt64 { value & ~((1 << offsetBits) - 1) }

  private static func hash(_ device: UInt64, _ inode: UInt64) -> UInt64 {
    // The finalizer of splitmix64: neighbouring inode numbers are the rule and have to be spread.
    var value = inode &+ device &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  private static func place(_ hash: UInt64, _ capacity: Int) -> Int {
    Int(hash.multipliedFullWidth(by: UInt64(capacity)).high)
  }
}
