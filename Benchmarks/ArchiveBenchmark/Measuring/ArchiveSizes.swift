internal import ArchiveFormat
internal import ArchiveIO
internal import CommandLineTool

/// How an archive's bytes are divided, from its seek table.
struct ArchiveSizes {
  /// All of it.
  let archiveByteCount: UInt64
  /// Frames without content, the seek table included; 0 for archives without one.
  let indexByteCount: UInt64

  private static let footerByteCount = SeekTable.footerByteCount

  init(_ path: String, isIndexed: Bool) throws(Failure) {
    let name = Array(path.utf8)
    let file = try system(about: name) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, name, .readOnly))
    }
    let size = try system(about: name) { () throws(SystemError) in
      Int(try FileSystem.status(of: file.rawValue).byteCount)
    }
    archiveByteCount = UInt64(size)
    guard isIndexed, size > Self.footerByteCount else {
      indexByteCount = 0
      return
    }
    do {
      let footer = try Self.read(file.rawValue, at: size - Self.footerByteCount, Self.footerByteCount)
      guard let found = try SeekTable.parseFooter(footer.span), found.tableByteCount <= size else {
        indexByteCount = 0
        return
      }
      let table = try Self.read(file.rawValue, at: size - found.tableByteCount, found.tableByteCount)
      let frames = try SeekTable.parse(table.span).reduce(into: UInt64(0)) { sum, entry in
        if entry.decompressedByteCount > 0 { sum += UInt64(entry.compressedByteCount) }
      }
      indexByteCount = UInt64(size) - min(frames, UInt64(size))
    } catch {
      throw .failed("\(path): the seek table cannot be read: \(error)")
    }
  }

  private static func read(_ descriptor: Int32, at offset: Int, _ count: Int) throws(SystemError) -> [UInt8] {
    try FileSystem.setPosition(descriptor, to: Int64(offset))
    let buffer = try Buffer(byteCount: count)
    // Safe: the buffer holds that much, and what was read of it is copied.
    let done = try unsafe FileSystem.readFully(descriptor, into: buffer.bytes)
    return unsafe Array(buffer.bytes[..<done])
  }
}
