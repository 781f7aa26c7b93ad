public import ArchiveIO

/// Makes and compares trees for tests.
public enum FileTree {
  /// Makes a file with these contents.
  public static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws {
    let file = try FileSystem.open(
      at: FileSystem.currentDirectory, Array(path.utf8), [.writeOnly, .create, .truncate], mode: mode)
    try unsafe bytes.withUnsafeBytes { try unsafe FileSystem.write(file.rawValue, $0) }
    try file.close()
  }

  /// The contents of a file.
  public static func read(_ path: String) throws -> [UInt8] {
    let file = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .readOnly)
    let count = Int(try FileSystem.status(of: file.rawValue).byteCount)
    var bytes = [UInt8](repeating: 0, count: count)
    let done = try unsafe bytes.withUnsafeMutableBytes { try unsafe FileSystem.readFully(file.rawValue, into: $0) }
    return Array(bytes.prefix(done))
  }

  /// Fills a directory with everything that is awkward: all types (device nodes for root alone), names with newlines
  /// and bytes that are not UTF-8, names of 255 bytes, holes, hard links, attributes, odd modes and times.
  public static func makeAwkward(in directory: Int32, seed: UInt64 = 1) throws {
    var random = SplitMix64(seed: seed)
    let names: [[UInt8]] = [
      Array("plain".utf8), Array("with space".utf8), Array("new\nline".utf8), [0x66, 0xFF, 0xFE],
      Array("back\\slash".utf8), Array("-dash".utf8), Array("ünï".utf8), Array("a=b%c".utf8), Array("…".utf8),
      [UInt8](repeating: 0x6C, count: 255),
    ]
    for (index, name) in names.enumerated() {
      try makeFile(in: directory, name, random.bytes(index * 97))
    }
    for size in [0, 1, 511, 512, 513, 4095, 4096, 4097, 100_000] {
      try makeFile(in: directory, Array("size-\(size)".utf8), random.bytes(size))
    }
    try makeSparse(in: directory, Array("holes".utf8), dataAt: [65536, 1 << 20], byteCount: 3 << 20)
    try makeSparse(in: directory, Array("hole-only".utf8), dataAt: [], byteCount: 1 << 20)
    try FileSystem.makeHardLink(from: directory, names[0], to: directory, Array("hard".utf8))
    try FileSystem.makeSymlink(to: Array("plain".utf8), at: directory, Array("link".utf8))
    try FileSystem.makeSymlink(to: [UInt8](repeating: 0x78, count: 4000), at: directory, Array("long-link".utf8))
    try FileSystem.makeSymlink(to: [0x2E], at: directory, Array("loop".utf8))
    try FileSystem.makeFIFO(at: directory, Array("fifo".utf8), mode: 0o640)
    if ProcessFacts.effectiveUserID == 0 {
      try FileSystem.makeDevice(
        at: directory, Array("null".utf8), isBlock: false, mode: 0o600, major: 1, minor: 3)
    }
    for (name, mode) in [("empty", 0o755), ("closed", 0o555), ("sticky", 0o1777), ("group", 0o2750)]
      as [(String, UInt32)]
    {
      let bytes = Array(name.utf8)
      try FileSystem.makeDirectory(at: directory, bytes, mode: 0o700)
      if name != "empty" {
        let inner = try FileSystem.open(at: directory, bytes, [.readOnly, .directory])
        try makeFile(in: inner.rawValue, Array("inside".utf8), random.bytes(33))
      }
      try FileSystem.setMode(at: directory, bytes, mode)
    }
    try setAttributes(in: directory)
    try FileSystem.setTimes(at: directory, names[1], modificationSeconds: -5, nanoseconds: 123_456_789)
    try FileSystem.setTimes(at: directory, Array("link".utf8), modificationSeconds: 4_500_000_000, nanoseconds: 1)
    try FileSystem.setMode(at: directory, Array("size-1".utf8), 0o4755)
    try FileSystem.setMode(at: directory, Array("size-511".utf8), 0)
  }

  private static func setAttributes(in directory: Int32) throws {
    let file = try FileSystem.open(at: directory, Array("plain".utf8), .readOnly)
    do throws(SystemError) {
      try FileSystem.setAttribute(of: file.rawValue, Array("user.binary".utf8), value: [0, 10, 61, 0])
      try FileSystem.setAttribute(of: file.rawValue, Array("user.a=b%".utf8), value: Array("1".utf8))
      try FileSystem.setAttribute(of: file.rawValue, Array("user.empty".utf8), value: [])
    } catch {
      if !error.isNotSupported { throw error }
    }
  }

  private static func makeFile(in directory: Int32, _ name: [UInt8], _ bytes: [UInt8]) throws {
    let file = try FileSystem.open(at: directory, name, [.writeOnly, .create, .exclusive], mode: 0o644)
    try unsafe bytes.withUnsafeBytes { try unsafe FileSystem.write(file.rawValue, $0) }
  }

  /// Makes a file of which only blocks of 4096 bytes at some offsets are data.
  public static func makeSparse(
    in directory: Int32, _ name: [UInt8], dataAt offsets: [Int64], byteCount: Int64
  ) throws {
    let file = try FileSystem.open(at: directory, name, [.writeOnly, .create, .exclusive], mode: 0o644)
    try FileSystem.truncate(file.rawValue, byteCount: byteCount)
    let block = [UInt8](repeating: 0x64, count: 4096)
    for offset in offsets {
      try unsafe block.withUnsafeBytes { try unsafe FileSystem.pwrite(file.rawValue, $0, at: offset) }
    }
  }

  /// Makes directories named "d" inside each other, and a file "leaf" in the deepest.
  public static func makeDeep(in root: SharedDescriptor, levels: Int) throws {
    let cursor = DirectoryCursor(root: root)
    var path: [UInt8] = []
    for _ in 0..<levels {
      if !path.isEmpty { path.append(0x2F) }
      path.append(0x64)
      _ = try cursor.descriptor(for: path[...], createMissing: 0o755)
    }
    try makeFile(in: try cursor.descriptor(for: path[...]), Array("leaf".utf8), [1])
  }
}
