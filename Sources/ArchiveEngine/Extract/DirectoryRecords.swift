internal import ArchiveFormat
internal import ArchiveIO

/// Metadata of directories, kept until everything in them has been made, then given deepest first.
///
/// 8 bytes an entry in memory, the records in a spill store.
struct DirectoryRecords {
  private static let offsetBits: UInt64 = 44
  private let store = SpillStore()
  /// Depth in the upper 20 bits (deeper ones are taken as equally deep), place of the record in the lower 44.
  private var entries: [UInt64] = []

  /// Remembers what a directory shall get. `inode` is that of the directory made or found; a later record of the same path wins.
  mutating func add(_ member: Member, path: [UInt8], status: FileStatus?) throws(SystemError) {
    var record = RecordWriter()
    record.append(path)
    record.append(status?.device ?? 0)
    record.append(status?.inode ?? 0)
    record.append(UInt64(member.mode))
    record.append(member.userID)
    record.append(member.groupID)
    record.append(UInt64(bitPattern: member.modificationTime.seconds))
    record.append(UInt64(member.modificationTime.nanoseconds))
    record.append(member.userName)
    record.append(member.groupName)
    record.append(member.accessACL)
    record.append(member.defaultACL)
    record.append(UInt64(member.extendedAttributes.count))
    for attribute in member.extendedAttributes {
      record.append(attribute.name)
      record.append(attribute.value)
    }
    let offset = try store.append(record.framed)
    let depth = path == [UInt8(ascii: ".")] ? 0 : 1 + path.reduce(0) { $0 + ($1 == UInt8(ascii: "/") ? 1 : 0) }
    entries.append(UInt64(min(depth, (1 << 20) - 1)) << Self.offsetBits | UInt64(offset))
  }

  /// Gives every directory that is still the one remembered its metadata, deepest first.
  mutating func apply(to destination: Destination, stop: StopSignal?) throws(ArchiveError) {
    // Among records of one depth the order of the archive is kept: the last one for a path wins.
    entries.sort { left, right in
      let (leftDepth, rightDepth) = (left >> Self.offsetBits, right >> Self.offsetBits)
      return leftDepth != rightDepth ? leftDepth > rightDepth : left < right
    }
    let restorer = MetadataRestorer(destination: destination)
    let cursor = DirectoryCursor(root: destination.root)
    for entry in entries {
      try stop?.check()
      let offset = Int64(entry & ((1 << Self.offsetBits) - 1))
      var record = try system { () throws(SystemError) in
        try RecordReader.read(from: store, at: offset)
      }
      let path = record.bytes()
      let (device, inode) = (record.number(), record.number())
      var member = Member(path: path, kind: .directory, mode: UInt32(truncatingIfNeeded: record.number()))
      member.userID = record.number()
      member.groupID = record.number()
      member.modificationTime = Timestamp(
        seconds: Int64(bitPattern: record.number()), nanoseconds: UInt32(truncatingIfNeeded: record.number()))
      let userName = record.bytes()
      member.ownerNames = SharedValue(MemberOwnerNames(user: userName, group: record.bytes()))
      member.accessACL = record.bytes()
      member.defaultACL = record.bytes()
      for _ in 0..<record.number() {
        let name = record.bytes()
        member.extendedAttributes.append(ExtendedAttribute(name: name, value: record.bytes()))
      }
      do throws(SystemError) {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let parent = try cursor.descriptor(for: slash.map { path[..<$0] } ?? [][...])
        let name = slash.map { Array(path[($0 + 1)...]) } ?? path
        let directory = try FileSystem.open(at: parent, name, [.readOnly, .directory, .noFollow])
        let status = try FileSystem.status(of: directory.rawValue)
        // Another object has the name by now: the record is not about it.
        if inode != 0, status.inode != inode || status.device != device { continue }
        restorer.restore(directory.rawValue, member, path: path, createdMode: nil)
      } catch {
        if error.isNotFound || error.isNotDirectory { continue }
        destination.issues.note(.mode, path: path, reason: error.message)
      }
    }
    entries = []
  }
}

/// Writes the private records of spill stores: numbers of 8 bytes, byte strings with their length.
struct RecordWriter {
  private var body: [UInt8] = []

  mutating func append(_ value: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { body.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
  }

  mutating func append(_ bytes: [UInt8]) {
    append(UInt64(bytes.count))
    body += bytes
  }

  /// The record with its length in front.
  var framed: [UInt8] {
    var whole = RecordWriter()
    whole.append(body)
    return whole.body
  }
}

/// Reads what ``RecordWriter`` wrote in this process.
struct RecordReader {
  private let body: [UInt8]
  private var position = 0

  /// Bytes of the record with its length.
  var framedByteCount: Int { body.count + 8 }

  static func read(from store: SpillStore, at offset: Int64) throws(SystemError) -> RecordReader {
    let head = RecordReader(body: try store.read(at: offset, count: 8))
    var copy = head
    return RecordReader(body: try store.read(at: offset + 8, count: Int(copy.number())))
  }

  private init(body: [UInt8]) { self.body = body }

  mutating func number() -> UInt64 {
    let value = (0..<8).reduce(UInt64(0)) { $0 | UInt64(body[position + $1]) << UInt64(8 * $1) }
    position += 8
    return value
  }

  mutating func bytes() -> [UInt8] {
    let count = Int(number())
    defer { position += count }
    return Array(body[position..<position + count])
  }
}
