package import ArchiveIO

/// Makes the files of a corpus, all with the same owner, modes and time.
package final class CorpusWriter {
  private let cursor: DirectoryCursor
  /// How much was written.
  package private(set) var contentByteCount = 0

  /// 2020-01-01, so that archives of a corpus are the same whenever it was made.
  private static let time: Int64 = 1_577_836_800

  /// Makes files below a directory.
  package init(root: SharedDescriptor) { cursor = DirectoryCursor(root: root) }

  /// Makes a file whose content comes in pieces.
  package func file(
    _ path: String, pieces: (_ write: ([UInt8]) throws(SystemError) -> Void) throws(SystemError) -> Void
  )
    throws(SystemError)
  {
    let (directory, name) = try split(path)
    let file = try FileSystem.open(at: directory, name, [.writeOnly, .create, .exclusive], mode: 0o644)
    var count = 0
    try pieces { bytes throws(SystemError) in
      try write(bytes, to: file.rawValue)
      count += bytes.count
    }
    contentByteCount += count
    try finish(file)
  }

  /// Makes a file.
  package func file(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    try file(path) { write throws(SystemError) in try write(bytes) }
  }

  /// Makes a file of holes with data here and there.
  package func sparseFile(
    _ path: String, byteCount: Int64, data: [(offset: Int64, bytes: [UInt8])]
  ) throws(SystemError) {
    let (directory, name) = try split(path)
    let file = try FileSystem.open(at: directory, name, [.writeOnly, .create, .exclusive], mode: 0o644)
    try FileSystem.truncate(file.rawValue, byteCount: byteCount)
    for (offset, bytes) in data {
      try FileSystem.setPosition(file.rawValue, to: offset)
      try write(bytes, to: file.rawValue)
    }
    contentByteCount += Int(byteCount)
    try finish(file)
  }

  /// Makes a symlink.
  package func symlink(_ path: String, to target: String) throws(SystemError) {
    let (directory, name) = try split(path)
    try FileSystem.makeSymlink(to: Array(target.utf8), at: directory, name)
    try FileSystem.setTimes(at: directory, name, modificationSeconds: Self.time, nanoseconds: 0)
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    // Safe: the buffer is only read, within the call.
    try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
      try unsafe FileSystem.write(descriptor, bytes)
    }
  }

  private func split(_ path: String) throws(SystemError) -> (directory: Int32, name: [UInt8]) {
    let bytes = Array(path.utf8)
    let slash = bytes.lastIndex(of: 0x2F)
    let directory = try cursor.descriptor(for: bytes[..<(slash ?? 0)], createMissing: 0o755)
    return (directory, Array(bytes[(slash.map { $0 + 1 } ?? 0)...]))
  }

  private func finish(_ file: consuming Descriptor) throws(SystemError) {
    try FileSystem.setMode(of: file.rawValue, 0o644)
    try FileSystem.setTimes(of: file.rawValue, modificationSeconds: Self.time, nanoseconds: 0)
    try file.close()
  }

  /// Gives all directories the same time; nothing may be made afterwards.
  package static func settleDirectories(of root: SharedDescriptor) throws(SystemError) {
    let walker = try DirectoryWalker(root: root)
    var directories: [WalkEntry] = []
    while let step = walker.next() {
      switch step {
      case .entry(let entry): if entry.status.kind == .directory { directories.append(entry) }
      case .failure(let error): throw error
      }
    }
    let cursor = DirectoryCursor(root: root)
    for directory in directories.reversed() {
      let parent = try cursor.descriptor(for: directory.relativePath[..<max(0, directory.nameOffset - 1)])
      try FileSystem.setTimes(at: parent, directory.name, modificationSeconds: time, nanoseconds: 0)
    }
    try FileSystem.setTimes(of: root.rawValue, modificationSeconds: time, nanoseconds: 0)
  }
}
