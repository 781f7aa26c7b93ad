internal import ArchiveIO

/// What a program or library of the ELF format says about the libraries that it needs.
///
/// The file may be anything: every offset and count in it is checked, and little of it is read.
struct ELFFile {
  /// What the file can be used as.
  enum Kind: Equatable {
    /// A program at a fixed address.
    case executable
    /// A shared library, or a program at any address.
    case sharedObject
  }

  /// The kind.
  let kind: Kind
  /// Names of the libraries that it needs.
  private(set) var needed: [[UInt8]] = []
  /// Where to look for them first (`DT_RUNPATH`, else `DT_RPATH`), separated by colons.
  private(set) var searchPaths: [[UInt8]] = []
  /// Whether `searchPaths` also holds for what the libraries need (`DT_RPATH`).
  private(set) var isInherited = false
  /// The program that loads it.
  private(set) var interpreter: [UInt8]?

  private struct Segment {
    var type, offset, address, fileByteCount: UInt64
  }

  /// Reads an open file; nil when it is no ELF file of this machine's word size and byte order, or a damaged one.
  init?(_ descriptor: Int32) {
    let file = Reader(descriptor: descriptor)
    guard let header = file.bytes(at: 0, count: 64), header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1]) else {
      return nil
    }
    switch header.number(16, byteCount: 2) {
    case 2: kind = .executable
    case 3: kind = .sharedObject
    default: return nil
    }
    let count = Int(header.number(56, byteCount: 2))
    guard header.number(54, byteCount: 2) == 56, count <= 512,
      let table = file.bytes(at: header.number(32, byteCount: 8), count: count * 56)
    else { return nil }
    let segments = (0..<count).map { index in
      let start = index * 56
      return Segment(
        type: table.number(start, byteCount: 4), offset: table.number(start + 8, byteCount: 8),
        address: table.number(start + 16, byteCount: 8), fileByteCount: table.number(start + 32, byteCount: 8))
    }
    if let segment = segments.first(where: { $0.type == 3 }), segment.fileByteCount <= 4096 {
      interpreter = file.bytes(at: segment.offset, count: Int(segment.fileByteCount)).map {
        Array($0.prefix { $0 != 0 })
      }
    }
    guard let dynamic = segments.first(where: { $0.type == 2 }) else { return }
    guard readDynamic(dynamic, segments, file) else { return nil }
  }

  /// Understands the dynamic section; false when it does not hold together.
  private mutating func readDynamic(_ dynamic: Segment, _ segments: [Segment], _ file: Reader) -> Bool {
    guard dynamic.fileByteCount <= 1 << 16,
      let table = file.bytes(at: dynamic.offset, count: Int(dynamic.fileByteCount))
    else { return false }
    var entries: [(tag: UInt64, value: UInt64)] = []
    for start in stride(from: 0, through: table.count - 16, by: 16) {
      let tag = table.number(start, byteCount: 8)
      if tag == 0 { break }
      entries.append((tag, table.number(start + 8, byteCount: 8)))
    }
    guard let stringAddress = entries.first(where: { $0.tag == 5 })?.value else {
      return !entries.contains { $0.tag == 1 }
    }
    // The table of names is stated by its address in memory.
    let home = segments.first {
      $0.type == 1 && $0.address <= stringAddress && stringAddress - $0.address < $0.fileByteCount
    }
    guard let home else { return false }
    let (names, overflow) = home.offset.addingReportingOverflow(stringAddress - home.address)
    guard !overflow else { return false }

    func strings(tagged tag: UInt64) -> [[UInt8]] {
      entries.lazy.filter { $0.tag == tag }.prefix(256).compactMap { file.string(at: names, plus: $0.value) }
    }
    needed = strings(tagged: 1)
    searchPaths = strings(tagged: 29)
    if searchPaths.isEmpty {
      searchPaths = strings(tagged: 15)
      isInherited = !searchPaths.isEmpty
    }
    return true
  }

  /// Reads pieces of the file.
  private struct Reader {
    let descriptor: Int32

    func bytes(at offset: UInt64, count: Int, orFewer: Bool = false) -> [UInt8]? {
      guard let place = Int64(exactly: offset), count >= 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: count)
      if count == 0 { return bytes }
      let read = unsafe bytes.withUnsafeMutableBytes { buffer in
        (try? unsafe FileSystem.pread(descriptor, into: buffer, at: place)) ?? 0
      }
      if read == count { return bytes }
      return orFewer ? Array(bytes.prefix(read)) : nil
    }

    /// A string of at most 4 KiB with its NUL. Most are short, for which the first piece is enough.
    func string(at base: UInt64, plus offset: UInt64) -> [UInt8]? {
      let (place, overflow) = base.addingReportingOverflow(offset)
      if overflow { return nil }
      return string(at: place, count: 128) ?? string(at: place, count: 4096)
    }

    private func string(at place: UInt64, count: Int) -> [UInt8]? {
      guard let bytes = bytes(at: place, count: count, orFewer: true), let end = bytes.firstIndex(of: 0)
      else {
        return nil
      }
      return Array(bytes[..<end])
    }
  }
}

extension [UInt8] {
  /// A little-endian number.
  fileprivate func number(_ start: Int, byteCount: Int) -> UInt64 {
    (0..<byteCount).reduce(0) { $0 | UInt64(self[start + $1]) << UInt64(8 * $1) }
  }
}
