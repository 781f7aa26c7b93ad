internal import Glibc

extension FileSystem {
  /// The names in an open directory that begin with some bytes. The others are looked at and not held.
  package static func names(in directory: Int32, beginningWith prefix: [UInt8]) throws(SystemError) -> [[UInt8]] {
    let listing = try FileSystem.open(at: directory, [0x2E], [.readOnly, .directory, .noFollow])
    var list = try DirectoryList(bufferByteCount: 32 << 10)
    var found: [[UInt8]] = []
    while try list.readSome(listing.rawValue) {
      for index in list.entries.indices {
        let isFound = unsafe list.withName(index) { name, length in
          unsafe length >= prefix.count && memcmp(name, prefix, prefix.count) == 0
        }
        if isFound { found.append(list.name(index)) }
      }
      list.removeAll(from: 0)
    }
    return found
  }
}
