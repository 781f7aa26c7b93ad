internal import ArchiveIO
internal import CommandLineTool

/// What lies in a directory.
struct TreeScan: Sendable {
  /// Members of all kinds that archives keep.
  private(set) var entryCount: UInt64 = 0
  /// Files, each inode once.
  private(set) var fileCount: UInt64 = 0
  /// Sum of their logical sizes.
  private(set) var contentByteCount: UInt64 = 0
  /// Sum of what they take on their file system.
  private(set) var storedByteCount: UInt64 = 0
  /// A file of middling size near the middle of the walk, with a name that every program prints as it is; nil without any.
  private(set) var middleFile: String?

  private struct Identity: Hashable { let device, inode: UInt64 }

  /// Walks a directory.
  init(_ path: String, token: CancellationToken) throws(Failure) {
    let bytes = Array(path.utf8)
    let root = try system(about: bytes) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, bytes, [.readOnly, .directory]))
    }
    let walker = try system(about: bytes) { () throws(SystemError) in try DirectoryWalker(root: root) }
    var seen: Set<Identity> = []
    var candidates: [String] = []
    while let step = walker.next() {
      if token.isCancelled { throw .cancelled }
      guard case .entry(let entry) = step else { continue }
      if entry.status.kind != .socket { entryCount += 1 }
      guard entry.status.kind == .regular else { continue }
      if entry.status.linkCount > 1 {
        let identity = Identity(device: entry.status.device, inode: entry.status.inode)
        guard seen.insert(identity).inserted else { continue }
      }
      fileCount += 1
      contentByteCount += UInt64(max(0, entry.status.byteCount))
      storedByteCount += UInt64(max(0, min(entry.status.byteCount, entry.status.allocatedByteCount)))
      if entry.status.byteCount > 0, entry.relativePath.allSatisfy(Self.isPlain) {
        candidates.append(String(decoding: entry.relativePath, as: UTF8.self))
      }
    }
    middleFile = candidates.isEmpty ? nil : candidates[candidates.count / 2]
  }

  /// The device that something lies on.
  static func device(of path: String) throws(Failure) -> UInt64 {
    let name = Array(path.utf8)
    return try system(about: name) { () throws(SystemError) in
      try FileSystem.statusFollowing(at: FileSystem.currentDirectory, name).device
    }
  }

  /// No program takes these for a pattern or an escape.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "-")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: " "):
      true
    default: false
    }
  }
}
