internal import CLinuxShims
internal import Glibc

/// Where something new goes: an open directory and a name in it.
struct Placement: Sendable {
  let directory: SharedDescriptor
  let name: [UInt8]
  /// Whether the directory could be opened for reading, which bringing it to the disk needs.
  let canSync: Bool

  /// Opens the directory of a path that the user gave. Symlinks on the way are followed, as the user named them.
  init(_ path: [UInt8]) throws(SystemError) {
    var end = path.count
    while end > 1, path[end - 1] == 0x2F { end -= 1 }
    let trimmed = path[..<end]
    let slash = trimmed.lastIndex(of: 0x2F)
    let name = Array(slash.map { trimmed[($0 + 1)...] } ?? trimmed)
    // "/", "." and ".." exist and cannot be put anywhere; "" is nothing.
    if name.isEmpty || name == [0x2E] || name == [0x2E, 0x2E] {
      throw SystemError("openat", errno: path.isEmpty ? ENOENT : EEXIST, path: path)
    }
    var parent: [UInt8] = [0x2E]
    if let slash { parent = slash == 0 ? [0x2F] : Array(trimmed[..<slash]) }
    self.name = name
    do throws(SystemError) {
      directory = SharedDescriptor(
        try FileSystem.open(at: FileSystem.currentDirectory, parent, [.readOnly, .directory]))
      canSync = true
    } catch {
      if error.errno != EACCES { throw error }
      directory = SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, parent, [.path, .directory]))
      canSync = false
    }
  }

  /// ".NAME" and a suffix, cut to the 255 bytes that a name may have. Names that are cut get a hash of the whole.
  func hiddenName(suffix: String) -> [UInt8] {
    let room = 255 - 1 - suffix.utf8.count
    if name.count <= room { return [0x2E] + name + Array(suffix.utf8) }
    // FNV-1a, 64 bits: only to tell long names apart.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = Array(String(hash, radix: 16).utf8)
    return [0x2E] + name[..<(room - digits.count)] + digits + Array(suffix.utf8)
  }

  /// Brings the directory's entries to the disk, where that is possible.
  func sync() throws(SystemError) {
    if canSync { try FileSystem.syncFile(directory.rawValue) }
  }

  /// Locks an open file or directory and tells whether the name still stands for it. Throws `EWOULDBLOCK` if another
  /// run holds the lock.
  func lock(_ descriptor: Int32, as name: [UInt8]) throws(SystemError) -> Bool {
    try NameLock.lock(descriptor, as: name, in: directory.rawValue)
  }

  /// The same for what was just made: where the file system knows no locks it is used without.
  func lockNew(_ descriptor: Int32, as name: [UInt8]) throws(SystemError) -> Bool {
    try NameLock.lockNew(descriptor, as: name, in: directory.rawValue)
  }
}
