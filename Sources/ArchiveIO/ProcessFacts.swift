internal import CLinuxShims
internal import Glibc

/// What the engine has to know about the process and the machine, read without changing anything.
public enum ProcessFacts {
  /// The umask, read once from `/proc/self/status`: asking `umask(2)` would change it for all threads for a moment.
  /// 077 where `/proc` does not tell.
  public static let fileModeMask: UInt32 = readMask() ?? 0o077

  /// The cores that this process may run on, at least 1.
  public static var availableCores: Int { max(Int(starc_available_cores()), 1) }

  /// The user on whose behalf files are made.
  public static var effectiveUserID: UInt32 { starc_geteuid() }

  /// The group that this process acts as.
  public static var effectiveGroupID: UInt32 { getegid() }

  /// The number of this process.
  public static var processID: Int32 { getpid() }

  /// The space that is left on the file system of an open file for this user.
  package static func freeSpace(of descriptor: Int32) throws(SystemError) -> (bytes: UInt64, inodes: UInt64) {
    var (bytes, inodes): (UInt64, UInt64) = (0, 0)
    _ = try unsafe checked("fstatvfs", starc_statvfs(descriptor, &bytes, &inodes))
    return (bytes, inodes)
  }

  /// An environment variable's bytes.
  package static func environment(_ name: String) -> [UInt8]? {
    guard let value = unsafe starc_getenv(name) else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  private static func readMask() -> UInt32? {
    guard
      let file = try? FileSystem.open(at: FileSystem.currentDirectory, Array("/proc/self/status".utf8), .readOnly)
    else { return nil }
    var text = [UInt8](repeating: 0, count: 4096)
    let count = unsafe text.withUnsafeMutableBytes { buffer in
      (try? unsafe FileSystem.readFully(file.rawValue, into: buffer)) ?? 0
    }
    for line in text.prefix(count).split(separator: 0x0A) where line.starts(with: "Umask:".utf8) {
      let digits = line.dropFirst(6).drop { $0 == 0x20 || $0 == 0x09 }
      return UInt32(String(decoding: digits, as: UTF8.self), radix: 8)
    }
    return nil
  }
}
