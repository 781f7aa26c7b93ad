internal import ArchiveIO
internal import MigrationWire

/// Opens what a URL names, and captures it if it is small.
///
/// Small files and symlinks are captured whole, so that they need no answer. Everything that is more than bytes, mode and time
/// (attributes, further names, holes) goes as an open descriptor, from which the system takes it all.
enum ItemReader {
  /// The largest file that travels by value.
  static let maximumByteCount = ItemMessage.maximumContentByteCount
  /// How often a file that is being written is read before it is given up.
  static let attemptCount = 3

  /// What was found at a path, not yet in the archive.
  static func read(_ file: [UInt8], as path: [UInt8], isDirectoryOnly: Bool) throws -> OutgoingItem {
    do {
      // First a look: opening a FIFO or device may have effects.
      let seen = try FileSystem.status(at: FileSystem.currentDirectory, file)
      if isDirectoryOnly && seen.kind != .directory {
        throw failure("the path in the archive ends in a slash, but this is no directory", file)
      }
      switch seen.kind {
      case .symlink:
        let target = try FileSystem.readLink(at: FileSystem.currentDirectory, file)
        return OutgoingItem(path: path, content: .symlink(target), status: seen)
      case .regular, .directory: return try open(file, as: path)
      default: throw failure("is a \(seen.kind.noun); only files, directories and symlinks can be exported", file)
      }
    } catch let error as SystemError {
      throw failure(error.message, file)
    }
  }

  private static func open(_ file: [UInt8], as path: [UInt8]) throws -> OutgoingItem {
    // Non-blocking, should a FIFO have taken the name's place.
    let descriptor = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, file, [.readOnly, .noFollow, .nonBlocking]))
    for _ in 0..<attemptCount {
      let status = try FileSystem.status(of: descriptor.rawValue)
      guard status.kind == .regular || status.kind == .directory else {
        throw failure("was replaced by a \(status.kind.noun) while it was opened", file)
      }
      guard try travelsByValue(descriptor.rawValue, status) else {
        return OutgoingItem(path: path, content: .descriptor(descriptor), status: status)
      }
      let bytes = try contents(of: descriptor.rawValue, byteCount: Int(status.byteCount))
      if bytes.count == Int(status.byteCount),
        try FileSystem.status(of: descriptor.rawValue).isUnchanged(since: status)
      {
        return OutgoingItem(path: path, content: .file(bytes), status: status)
      }
    }
    throw failure("changes while it is read", file)
  }

  private static func travelsByValue(_ descriptor: Int32, _ status: FileStatus) throws(SystemError) -> Bool {
    guard status.kind == .regular, status.linkCount == 1, status.byteCount <= Int64(maximumByteCount) else {
      return false
    }
    if status.allocatedByteCount < status.byteCount {
      // Holes, or a file system that packs small files or allocates late.
      guard case .found(status.byteCount) = try FileSystem.seekHole(descriptor, from: 0) else { return false }
    }
    return try FileSystem.attributeNames(of: descriptor).isEmpty
  }

  /// Reads one byte more than there should be: a file that has grown is seen.
  private static func contents(of descriptor: Int32, byteCount: Int) throws -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: byteCount + 1) { buffer, count in
      count = try unsafe FileSystem.pread(descriptor, into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
  }

  private static func failure(_ message: String, _ file: [UInt8]) -> ResourcesArchiverError {
    ResourcesArchiverError(message, path: String(decoding: file, as: UTF8.self))
  }
}

extension OutgoingItem {
  fileprivate init(path: [UInt8], content: Content, status: FileStatus) {
    self.init(
      path: path, content: content, isDirectory: status.kind == .directory, mode: status.mode,
      modificationSeconds: status.modificationSeconds,
      modificationNanoseconds: status.modificationNanoseconds)
  }
}

extension FileKind {
  fileprivate var noun: String {
    switch self {
    case .regular: "file"
    case .directory: "directory"
    case .symlink: "symlink"
    case .fifo: "FIFO"
    case .socket: "socket"
    case .characterDevice, .blockDevice: "device"
    case .unknown: "file of an unknown kind"
    }
  }
}
