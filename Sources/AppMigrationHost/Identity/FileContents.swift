internal import ArchiveIO

/// Reads small files whole.
enum FileContents {
  /// The rest of an open file; nil if there is more than `limit`.
  static func read(_ descriptor: Int32, limit: Int) throws(SystemError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      let room = 16 << 10
      let count = try unsafe withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) {
        (buffer) throws(SystemError) in
        let count = try unsafe FileSystem.read(descriptor, into: buffer)
        unsafe bytes.append(contentsOf: buffer[..<min(count, room)])
        return count
      }
      if count == 0 { return bytes }
    }
    return nil
  }
}
