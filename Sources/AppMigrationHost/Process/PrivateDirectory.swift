internal import ArchiveIO
internal import Glibc

/// The extension's own temporary directory, mode 0700.
///
/// Its descriptor holds a lock as long as the host lives. So what a killed host has left is known, and removed when the next
/// one is made in the same place.
struct PrivateDirectory: Sendable {
  private static let prefix = Array("appmigrate-".utf8)

  /// The directory, open.
  let descriptor: SharedDescriptor
  /// Its absolute path without symlinks.
  let path: [UInt8]
  private let parent: SharedDescriptor
  private let name: [UInt8]

  /// Makes one below `$TMPDIR`, or `/tmp` where that is not set or not an absolute path.
  init() throws(SystemError) {
    var base = ProcessFacts.environment("TMPDIR") ?? []
    if base.first != UInt8(ascii: "/") { base = Array("/tmp".utf8) }
    try self.init(in: base)
  }

  /// Makes one in a directory.
  init(in base: [UInt8]) throws(SystemError) {
    parent = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, base, [.readOnly, .directory]))
    Self.removeAbandoned(in: parent)
    (descriptor, name) = try Self.make(in: parent)
    path = try RealPath.of(descriptor.rawValue)
  }

  /// Removes it with all that is in it. What cannot be removed stays: nobody could do anything about it here.
  func remove() { try? RemoveTree.remove(at: parent.rawValue, name) }

  private static func make(in parent: SharedDescriptor) throws(SystemError) -> (SharedDescriptor, [UInt8]) {
    // Another host that is cleaning up may take what has no lock yet for an abandoned one.
    for _ in 0..<16 {
      let name = try prefix + RandomName.make()
      // A name that somebody else has made is refused, so that nobody can prepare it.
      try FileSystem.makeDirectory(at: parent.rawValue, name, mode: 0o700)
      do throws(SystemError) {
        let directory = SharedDescriptor(
          try FileSystem.open(at: parent.rawValue, name, [.readOnly, .directory, .noFollow]))
        if try NameLock.lockNew(directory.rawValue, as: name, in: parent.rawValue) { return (directory, name) }
      } catch {
        if error.errno == EWOULDBLOCK || error.isNotFound { continue }
        try? FileSystem.removeDirectory(at: parent.rawValue, name)
        throw error
      }
    }
    throw SystemError("mkdirat", errno: EWOULDBLOCK, path: prefix)
  }

  /// Removes the directories of hosts that live no more. Failures do not matter here: the next host tries again.
  private static func removeAbandoned(in parent: SharedDescriptor) {
    let names = try? FileSystem.names(in: parent.rawValue, beginningWith: prefix)
    for name in names ?? [] where isOurForm(name) { try? removeIfAbandoned(name, in: parent.rawValue) }
  }

  private static func removeIfAbandoned(_ name: [UInt8], in parent: Int32) throws(SystemError) {
    let status = try FileSystem.status(at: parent, name)
    guard status.kind == .directory, status.userID == ProcessFacts.effectiveUserID, status.mode & 0o7777 == 0o700
    else { return }
    let directory = SharedDescriptor(try FileSystem.open(at: parent, name, [.readOnly, .directory, .noFollow]))
    guard try NameLock.lock(directory.rawValue, as: name, in: parent) else { return }
    try RemoveTree.remove(at: parent, name)
  }

  private static func isOurForm(_ name: [UInt8]) -> Bool {
    name.count == prefix.count + RandomName.byteCount
      && name.dropFirst(prefix.count).allSatisfy(RandomName.letters.contains)
  }
}

/// Absolute paths of open files.
enum RealPath {
  /// The path without symlinks by which the kernel knows an open file.
  static func of(_ descriptor: Int32) throws(SystemError) -> [UInt8] {
    try FileSystem.readLink(at: FileSystem.currentDirectory, Array("/proc/self/fd/\(descriptor)".utf8))
  }
}
