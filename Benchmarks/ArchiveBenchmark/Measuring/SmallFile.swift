internal import ArchiveIO
internal import CommandLineTool

/// Files that are read or written as a whole.
enum SmallFile {
  /// The contents, at most 64 MiB.
  static func bytes(_ path: String) throws(Failure) -> [UInt8] {
    let name = Array(path.utf8)
    return try system(about: name) { () throws(SystemError) in
      let file = try FileSystem.open(at: FileSystem.currentDirectory, name, .readOnly)
      // Files in /proc have no size: they are read until nothing comes.
      var content: [UInt8] = []
      let piece = try Buffer(byteCount: 64 << 10)
      while content.count < 64 << 20 {
        let count = try unsafe FileSystem.read(file.rawValue, into: piece.bytes)
        if count == 0 { break }
        unsafe content.append(contentsOf: piece.bytes[..<count])
      }
      return content
    }
  }

  /// The contents as text.
  static func text(_ path: String) throws(Failure) -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// Makes or replaces a file.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let name = Array(path.utf8)
    try system(about: name) { () throws(SystemError) in
      let file = try FileSystem.open(
        at: FileSystem.currentDirectory, name, [.writeOnly, .create, .truncate], mode: 0o644)
      try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(SystemError) in
        try unsafe FileSystem.write(file.rawValue, buffer)
      }
      try file.close()
    }
  }
}
