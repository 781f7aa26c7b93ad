internal import CLinuxShims
internal import Glibc

/// The names in the directories on a walk's way, in one block of memory used as a stack.
///
/// An entry takes 16 bytes besides its name: the first eight bytes, which decide nearly all comparisons when sorting,
/// the place of the name, and the type that the directory states.
@safe
package struct DirectoryList: ~Copyable {
  package struct Entry {
    /// The first eight bytes of the name, big-endian, zero padded.
    package var prefix: UInt64
    package var nameOffset: UInt32
    /// `d_type`; 4 is a directory, 0 not known.
    package var type: UInt8
  }

  package private(set) var entries: [Entry] = []
  /// NUL-terminated names.
  private(set) var names: [UInt8] = []
  /// What the kernel fills; large, so that few calls are needed.
  private let buffer: Buffer

  package init(bufferByteCount: Int = 128 << 10) throws(SystemError) { buffer = try Buffer(byteCount: bufferByteCount) }

  /// Reads all names of an open directory behind what is there. On failure those read so far stay.
  package mutating func read(_ descriptor: Int32) throws(SystemError) {
    while try readSome(descriptor) {}
  }

  /// Reads what the kernel gives at once, for who looks at names without holding them all. False at the end.
  mutating func readSome(_ descriptor: Int32) throws(SystemError) -> Bool {
    let count = Int(try unsafe checked("getdents64", starc_getdents64(descriptor, buffer.base, buffer.byteCount)))
    if count <= 0 || count > buffer.byteCount { return false }
    try unsafe take(UnsafeRawBufferPointer(start: buffer.base, count: count))
    return true
  }

  /// `struct linux_dirent64`: inode (8 bytes), offset (8), record length (2), type (1), name with a NUL.
  private mutating func take(_ records: UnsafeRawBufferPointer) throws(SystemError) {
    var position = 0
    while records.count - position > 19 {
      let length = Int(unsafe records.loadUnaligned(fromByteOffset: position + 16, as: UInt16.self))
      if length < 20 || length > records.count - position { throw SystemError("getdents64", errno: EIO) }
      let type = unsafe records[position + 18]
      let field = unsafe UnsafeRawBufferPointer(rebasing: records[(position + 19)..<(position + length)])
      position += length
      guard let base = field.baseAddress else { continue }
      let nameLength = unsafe strnlen(base.assumingMemoryBound(to: CChar.self), field.count)
      if nameLength == field.count { throw SystemError("getdents64", errno: EIO) }
      if unsafe nameLength == 0 || isDots(field, nameLength) { continue }
      guard let offset = UInt32(exactly: names.count) else { throw SystemError("getdents64", errno: EOVERFLOW) }
      var prefix: UInt64 = 0
      for index in 0..<min(nameLength, 8) { prefix |= unsafe UInt64(field[index]) << UInt64(56 - 8 * index) }
      unsafe names.append(contentsOf: field[...nameLength])
      entries.append(Entry(prefix: prefix, nameOffset: offset, type: type))
    }
  }

  private func isDots(_ name: UnsafeRawBufferPointer, _ length: Int) -> Bool {
    unsafe name[0] == 0x2E && (length == 1 || (length == 2 && name[1] == 0x2E))
  }

  /// Sorts the entries from an index on by the bytes of their names.
  mutating func sort(from start: Int) {
    unsafe names.withUnsafeBufferPointer { names in
      guard let base = names.baseAddress else { return }
      unsafe entries.withUnsafeMutableBufferPointer { entries in
        // Only the new entries, in place: a slice of the array would copy it all.
        var new = unsafe UnsafeMutableBufferPointer(rebasing: entries[start...])
        unsafe new.sort { left, right in
          if left.prefix != right.prefix { return left.prefix < right.prefix }
          // Names hold no NUL, so strcmp, which compares as unsigned bytes, sees all of them.
          return unsafe base.withMemoryRebound(to: CChar.self, capacity: names.count) {
            unsafe strcmp($0 + Int(left.nameOffset), $0 + Int(right.nameOffset)) < 0
          }
        }
      }
    }
  }

  /// Takes away the entries from an index on, with their names.
  package mutating func removeAll(from start: Int) {
    guard start < entries.count else { return }
    // Names were appended in the order of reading; sorting does not move them.
    var lowest = entries[start].nameOffset
    for index in start..<entries.count { lowest = min(lowest, entries[index].nameOffset) }
    names.removeSubrange(Int(lowest)...)
    entries.removeSubrange(start...)
  }

  /// Takes away the entries from an index on for which `isDone`, given the NUL-terminated name and the type, says so.
  mutating func removeEntries(from start: Int, _ isDone: (UnsafePointer<CChar>, UInt8) -> Bool) {
    var kept = start
    for index in start..<entries.count {
      let entry = entries[index]
      if unsafe withName(index, { name, _ in unsafe isDone(name, entry.type) }) { continue }
      entries[kept] = entry
      kept += 1
    }
    if kept == start, start < entries.count {
      removeAll(from: start)
    } else {
      entries.removeSubrange(kept...)
    }
  }

  /// Appends the entry's name to a path.
  func appendName(_ index: Int, to path: inout [UInt8]) {
    unsafe withName(index) { pointer, length in
      unsafe path.append(contentsOf: UnsafeRawBufferPointer(start: pointer, count: length))
    }
  }

  /// The entry's name as an array.
  package func name(_ index: Int) -> [UInt8] {
    var name: [UInt8] = []
    appendName(index, to: &name)
    return name
  }

  /// Lends the NUL-terminated name and its length.
  func withName<R>(_ index: Int, _ body: (UnsafePointer<CChar>, Int) -> R) -> R {
    unsafe Self.withName(entries[index], in: names, body)
  }

  /// The same of a copy of the names.
  static func withName<R>(_ entry: Entry, in names: [UInt8], _ body: (UnsafePointer<CChar>, Int) -> R) -> R {
    let offset = Int(entry.nameOffset)
    return unsafe names.span.withUnsafeBytes { bytes in
      let start = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset...])
      return unsafe start.withMemoryRebound(to: CChar.self) { characters in
        // Safe: every name was stored with its NUL, so that there is at least one byte.
        let base = unsafe characters.baseAddress.unsafelyUnwrapped
        return unsafe body(base, strlen(base))
      }
    }
  }
}
