internal import ArchiveFormat
internal import ArchiveIO

/// A hard link that waits for the file to which it refers.
struct PendingLink {
  /// Path below the destination.
  var path: [UInt8]
  /// The archive's path of the member to which it refers.
  var target: [UInt8]
  /// Path below the destination of the file to be linked to; empty when this run does not make that member.
  var place: [UInt8]
  var replacesOwn: Bool
  /// Number of the member in the archive.
  var position: UInt64

  fileprivate var record: [UInt8] {
    var record = RecordWriter()
    record.append(path)
    record.append(target)
    record.append(place)
    record.append(replacesOwn ? 1 : 0)
    record.append(position)
    return record.framed
  }

  fileprivate init(_ record: inout RecordReader) {
    path = record.bytes()
    target = record.bytes()
    place = record.bytes()
    replacesOwn = record.number() != 0
    position = record.number()
  }

  init(path: [UInt8], target: [UInt8], place: [UInt8], replacesOwn: Bool, position: UInt64) {
    self.path = path
    self.target = target
    self.place = place
    self.replacesOwn = replacesOwn
    self.position = position
  }
}

/// Hard links that wait until the files to which they refer are complete. Records in a spill store, nothing else grows.
struct PendingLinks {
  private let store = SpillStore()
  private var offset: Int64 = 0
  private(set) var count: UInt64 = 0

  /// Remembers a link.
  mutating func add(_ link: PendingLink) throws(SystemError) {
    _ = try store.append(link.record)
    count += 1
  }

  /// Takes the remembered links in order; those for which `body` returns false go to the end and are remembered further.
  mutating func take(_ body: (PendingLink) throws(ArchiveError) -> Bool) throws(ArchiveError) {
    for _ in 0..<count {
      var record = try system { () throws(SystemError) in try RecordReader.read(from: store, at: offset) }
      offset += Int64(record.framedByteCount)
      count -= 1
      let link = PendingLink(&record)
      if try !body(link) { try system { () throws(SystemError) in try add(link) } }
    }
  }
}

/// Links whose target this run does not make: they get its content when the archive is gone through once more.
///
/// 24 bytes a link in memory, the records in a spill store. The control thread only.
final class MissingContents {
  /// What a member that has the name of a link's target is for the link.
  enum Supply {
    /// Its content is given to the link.
    case content
    /// It is itself a link: what that one refers to counts.
    case link(PendingLink)
    /// The link gets nothing from it.
    case nothing
  }

  private struct Entry {
    /// XXH3-64 of the target's path in the archive.
    let target: UInt64
    /// Place of the record in the lower 61 bits; see the flags.
    var offset: UInt64
    /// Place of the record that takes this one's place when the archive has been gone through; -1 for none.
    var successor: Int64 = -1

    /// Some member had the name.
    static let isFound: UInt64 = 1 << 63
    /// That member came before the link.
    static let isOlder: UInt64 = 1 << 62
    /// The content of some member was given to the link.
    static let isGiven: UInt64 = 1 << 61
    static let flags = isFound | isOlder | isGiven
  }

  /// How often links may come again: an archive of some kilobytes can have 100,000 links to a name and as many members of that name.
  private static let maximumRepetitionCount = 100_000

  private let store = SpillStore()
  private var entries: [Entry] = []
  private var repetitionCount = 0

  var isEmpty: Bool { entries.isEmpty }

  /// Remembers a link.
  func add(_ link: PendingLink) throws(SystemError) {
    let offset = try store.append(link.record)
    entries.append(Entry(target: XXH3.hash64(link.target.span), offset: UInt64(offset)))
  }

  /// Call when all links are known: brings those to one target together, in the order of the archive.
  func sort() {
    entries.sort { left, right in left.target != right.target ? left.target < right.target : left.offset < right.offset
    }
  }

  /// Goes through the links that refer to a member. Where several members have the name, a link means the last one before it; one with
  /// none before it the last of all. So a link may come again, and what it gets then counts.
  ///
  /// - Parameter body: is told whether the link was given a content and whether another link waits to take its place.
  func claim(
    _ path: [UInt8], position: UInt64,
    _ body: (PendingLink, _ wasGiven: Bool, _ hasSuccessor: Bool) throws(ArchiveError) -> Supply
  ) throws(ArchiveError) {
    guard !entries.isEmpty else { return }
    let hash = XXH3.hash64(path.span)
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].target < hash { low = middle + 1 } else { high = middle }
    }
    while low < entries.count, entries[low].target == hash {
      defer { low += 1 }
      let link = try read(at: Int64(entries[low].offset & ~Entry.flags))
      guard link.target == path else { continue }
      let flags = entries[low].offset
      if link.position < position, flags & Entry.isOlder != 0 { continue }
      if flags & Entry.isFound != 0 {
        repetitionCount += 1
        guard repetitionCount <= Self.maximumRepetitionCount else {
          throw ArchiveError(
            .limitExceeded, "too many hard links and members of one name: more than 100,000 pairs", path: path)
        }
      }
      let supply = try body(link, flags & Entry.isGiven != 0, entries[low].successor >= 0)
      entries[low].offset |= Entry.isFound | (link.position > position ? Entry.isOlder : 0)
      entries[low].successor = -1
      switch supply {
      case .content: entries[low].offset |= Entry.isGiven
      case .link(let successor):
        entries[low].successor = try system { () throws(SystemError) in try store.append(successor.record) }
      case .nothing: break
      }
    }
  }

  /// Goes through the links to which no member came.
  func forEachUnmade(_ body: (PendingLink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    for entry in entries where entry.offset & Entry.isFound == 0 {
      try body(try read(at: Int64(entry.offset & ~Entry.flags)))
    }
  }

  /// Goes through the links that take the place of others.
  func forEachSuccessor(_ body: (PendingLink) throws(ArchiveError) -> Void) throws(ArchiveError) {
    for entry in entries where entry.successor >= 0 { try body(try read(at: entry.successor)) }
  }

  private func read(at offset: Int64) throws(ArchiveError) -> PendingLink {
    var record = try system { () throws(SystemError) in try RecordReader.read(from: store, at: offset) }
    return PendingLink(&record)
  }
}
