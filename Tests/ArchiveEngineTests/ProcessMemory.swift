import ArchiveIO
import TestSupport

/// What the kernel says about this process's memory; for tests in processes of their own. With a sanitizer, which takes far more than what is
/// judged, all is 0.
enum ProcessMemory {
  /// Anonymous memory that is resident: the heap and stacks, without programs and libraries.
  static func anonymousByteCount() throws -> Int { try value("RssAnon:") }

  /// The most that is resident while `body` runs.
  static func peakByteCount(during body: () throws -> Void) throws -> Int {
    // "5" makes what is resident now the peak (proc(5), /proc/PID/clear_refs).
    let file = try FileSystem.open(at: FileSystem.currentDirectory, Array("/proc/self/clear_refs".utf8), .writeOnly)
    try unsafe Array("5".utf8).withUnsafeBytes { try unsafe FileSystem.write(file.rawValue, $0) }
    try body()
    return try value("VmHWM:")
  }

  private static func value(_ key: String) throws -> Int {
    if Sanitizer.isOn { return 0 }
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
