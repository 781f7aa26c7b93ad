internal import ArchiveIO
internal import Glibc

/// The extension's own temporary directory, mode 0700.
struct PrivateDirectory: Sendable {
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
    parent = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, base, [.readOnly, .directory]))
    name = Array("appmigrate-\(String(UInt64.random(in: 0 ... .max), radix: 36))".utf8)
    // A name that somebody else has made is refused, so that nobody can prepare it.
    try FileSystem.makeDirectory(at: parent.rawValue, name, mode: 0o700)
    descriptor = SharedDescriptor(
      try FileSystem.open(at: parent.rawValue, name, [.readOnly, .directory, .noFollow]))
    path = try RealPath.of(descriptor.rawValue)
  }

  /// Removes it with all that is in it. What cannot be removed stays: nobody could do anything about it here.
  func remove() { try? RemoveTree.remove(at: parent.rawValue, name) }
}

/// Absolute paths of open files.
enum RealPath {
  /// The path without symlinks by which the kernel knows an open file.
  static func of(_ descriptor: Int32) throws(SystemError) -> [UInt8] {
    try FileSystem.readLink(at: FileSystem.currentDirectory, Array("/proc/self/fd/\(descriptor)".utf8))
  }
}
