import ArchiveIO

/// What the kernel says about this process's memory; for tests in processes of their own.
enum ProcessMemory {
  /// Anonymous memory that is resident: the heap and stacks, without programs and libraries.
  static func anonymousByteCount() throws -> Int { try value("RssAnon:") }

  /// The most that was ever resident.
  static func peakByteCount() throws -> Int { try value("VmHWM:") }

  private static func value(_ key: String) throws -> Int {
    // A file of /proc states no size.
    let file = try FileSystem.open(at: FileSystem.currentDirectory, Array("/proc/self/status".utf8), .readOnly)
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe FileSystem.readFully(file.rawValue, into: $0) }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      return (line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
    return 0
  }
}
