internal import ArchiveFormat
internal import ArchiveIO

/// Names that items took which turned out not to be whole: they may be taken again, and a reader that wants whole items only leaves out what
/// lies under them. One thread.
///
/// Costs 8 bytes a member of the item at hand, in a spill store, and memory only for items that failed.
struct WithdrawnNames {
  private struct Item {
    let path: [UInt8]
    /// A name of it, or below it, was taken again.
    var isTouched = false
  }

  private var items: [Item] = []
  /// For each name that is withdrawn, its item.
  private var names: [UInt64: Int] = [:]
  /// Names of the item at hand; nil between items.
  private var current: SpillStore?

  /// A withdrawn name was taken again.
  private(set) var hasRepeats = false

  /// Names taken from now on belong to one item.
  mutating func beginItem() { current = SpillStore(memoryLimit: 64 << 10) }

  /// Ends an item.
  ///
  /// - Parameter path: the item's path, if its names are to be withdrawn.
  mutating func endItem(withdrawing path: [UInt8]?) throws(ArchiveError) {
    defer { current = nil }
    guard let path, let current else { return }
    items.append(Item(path: path))
    var offset: Int64 = 0
    while offset < current.byteCount {
      let count = Int(min(current.byteCount - offset, 64 << 10))
      let bytes = try system(path: path) { () throws(SystemError) in try current.read(at: offset, count: count) }
      for start in stride(from: 0, to: bytes.count - 7, by: 8) {
        let hash = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        names[hash] = items.count - 1
      }
      offset += Int64(count)
    }
  }

  /// Whether the name belongs to an item that failed.
  func isFree(_ hash: UInt64) -> Bool { names[hash] != nil }

  /// Notes that a name is taken.
  mutating func claim(_ path: [UInt8], _ hash: UInt64) throws(ArchiveError) {
    if let current {
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: hash >> UInt64($0 * 8)) }
      _ = try system(path: path) { () throws(SystemError) in try current.append(bytes) }
    }
    guard !items.isEmpty else { return }
    for index in items.indices where !items[index].isTouched {
      let prefix = items[index].path
      if path.starts(with: prefix), path.count == prefix.count || path[prefix.count] == UInt8(ascii: "/") {
        items[index].isTouched = true
      }
    }
    if names.removeValue(forKey: hash) != nil { hasRepeats = true }
  }

  /// What a reader leaves out: everything at and below the prefixes, and members whose path has one of the hashes (XXH3-64) and that
  /// no later member replaces.
  var leftOut: (prefixes: [[UInt8]], hashes: [UInt64]) {
    (
      items.filter { !$0.isTouched }.map(\.path),
      names.filter { items[$0.value].isTouched }.keys.sorted()
    )
  }
}
