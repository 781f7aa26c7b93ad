internal import CLinuxShims
internal import Glibc

extension FileSystem {
  /// The largest value of an attribute and the largest list of names that Linux knows (`XATTR_SIZE_MAX`,
  /// `XATTR_LIST_MAX`).
  package static let maximumAttributeByteCount = 65536

  /// Sets the mode, exactly: the umask is not applied.
  package static func setMode(of descriptor: Int32, _ mode: UInt32) throws(SystemError) {
    _ = try checked("fchmod", starc_fchmod(descriptor, mode & 0o7777))
  }

  /// Sets the mode of what has this name; fails with `EOPNOTSUPP` for a symlink.
  package static func setMode(at directory: Int32, _ name: [UInt8], _ mode: UInt32) throws(SystemError) {
    _ = try unsafe withName("fchmodat", name) { unsafe starc_fchmodat(directory, $0, mode & 0o7777) }
  }

  /// Sets owner and group; `UInt32.max` leaves one as it is. Linux takes set-id bits and capabilities away with it.
  package static func setOwner(of descriptor: Int32, userID: UInt32, groupID: UInt32) throws(SystemError) {
    _ = try checked("fchown", starc_fchown(descriptor, userID, groupID))
  }

  /// Sets owner and group of what has this name, a symlink itself included.
  package static func setOwner(
    at directory: Int32, _ name: [UInt8], userID: UInt32, groupID: UInt32
  ) throws(SystemError) {
    _ = try unsafe withName("fchownat", name) { unsafe starc_fchownat(directory, $0, userID, groupID) }
  }

  /// Sets the modification time; the access time is left alone.
  package static func setTimes(
    of descriptor: Int32, modificationSeconds: Int64, nanoseconds: UInt32
  ) throws(SystemError) {
    _ = try unsafe checked("utimensat", starc_utimensat(descriptor, "", modificationSeconds, nanoseconds))
  }

  /// Sets the modification time of what has this name, a symlink itself included.
  package static func setTimes(
    at directory: Int32, _ name: [UInt8], modificationSeconds: Int64, nanoseconds: UInt32
  ) throws(SystemError) {
    if name.isEmpty { throw SystemError("utimensat", errno: ENOENT) }
    _ = try unsafe withName("utimensat", name) {
      unsafe starc_utimensat(directory, $0, modificationSeconds, nanoseconds)
    }
  }

  /// The names of a file's extended attributes, as the kernel lists them. Empty where the file system has none.
  package static func attributeNames(of descriptor: Int32) throws(SystemError) -> [[UInt8]] {
    try unsafe attributeNames { unsafe starc_flistxattr(descriptor, $0, $1) }
  }

  /// The same for what has this name, a symlink itself included.
  package static func attributeNames(at directory: Int32, _ name: [UInt8]) throws(SystemError) -> [[UInt8]] {
    let path = attributePath(directory, name)
    return try unsafe attributeNames { buffer, capacity in
      unsafe withTerminated(path) { unsafe starc_llistxattr($0, buffer, capacity) }
    }
  }

  /// The value of an attribute; nil if there is none of this name (any more).
  package static func attribute(of descriptor: Int32, _ attribute: [UInt8]) throws(SystemError) -> [UInt8]? {
    try unsafe attributeValue(attribute) { unsafe starc_fgetxattr(descriptor, $0, $1, $2) }
  }

  /// The same for what has this name, a symlink itself included.
  package static func attribute(
    at directory: Int32, _ name: [UInt8], _ attribute: [UInt8]
  ) throws(SystemError) -> [UInt8]? {
    let path = attributePath(directory, name)
    return try unsafe attributeValue(attribute) { cAttribute, buffer, capacity in
      unsafe withTerminated(path) { unsafe starc_lgetxattr($0, cAttribute, buffer, capacity) }
    }
  }

  /// Sets an attribute.
  package static func setAttribute(
    of descriptor: Int32, _ attribute: [UInt8], value: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withName("setxattr", attribute) { cName in
      unsafe value.withUnsafeBytes { unsafe starc_fsetxattr(descriptor, cName, $0.baseAddress, $0.count) }
    }
  }

  /// Sets an attribute of what has this name, a symlink itself included (symlinks can only have those of the
  /// `trusted` and `security` namespaces).
  package static func setAttribute(
    at directory: Int32, _ name: [UInt8], _ attribute: [UInt8], value: [UInt8]
  ) throws(SystemError) {
    let path = attributePath(directory, name)
    _ = try unsafe withName("setxattr", attribute) { cAttribute in
      unsafe withTerminated(path) { cPath in
        unsafe value.withUnsafeBytes { unsafe starc_lsetxattr(cPath, cAttribute, $0.baseAddress, $0.count) }
      }
    }
  }

  /// Removes an attribute. Only for those that the caller made itself.
  package static func removeAttribute(of descriptor: Int32, _ attribute: [UInt8]) throws(SystemError) {
    _ = try unsafe withName("removexattr", attribute) { unsafe starc_fremovexattr(descriptor, $0) }
  }

  /// Linux has no `…at` calls for attributes before 6.13 and refuses descriptors of `O_PATH`. The directory is named
  /// by its descriptor in `/proc`, the last component is not followed by the `l…` calls: no symlink can lead astray.
  private static func attributePath(_ directory: Int32, _ name: [UInt8]) -> [UInt8] {
    if directory == currentDirectory { return name }
    return Array("/proc/self/fd/\(directory)/".utf8) + name
  }

  private static func attributeNames(
    _ call: (UnsafeMutableRawPointer?, Int) -> Int64
  ) throws(SystemError) -> [[UInt8]] {
    // Most files have no attributes: the first call, with a small buffer on the stack, says so.
    var capacity = 512
    while true {
      var names: [[UInt8]] = []
      let result = unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
        let result = unsafe call(buffer.baseAddress, buffer.count)
        if result > 0 { unsafe names = split(UnsafeRawBufferPointer(rebasing: buffer[..<Int(result)])) }
        return result
      }
      switch result {
      case Int64(-EOPNOTSUPP), Int64(-ENOSYS): return []
      case Int64(-ERANGE) where capacity < maximumAttributeByteCount: capacity = maximumAttributeByteCount
      default:
        _ = try checked("listxattr", result)
        return names
      }
    }
  }

  private static func split(_ list: UnsafeRawBufferPointer) -> [[UInt8]] {
    unsafe list.split(separator: 0).map { unsafe Array($0) }
  }

  private static func attributeValue(
    _ attribute: [UInt8], _ call: (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int64
  ) throws(SystemError) -> [UInt8]? {
    var capacity = 512
    while true {
      var value: [UInt8] = []
      let result = unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
        let result = unsafe withTerminated(attribute) { unsafe call($0, buffer.baseAddress, buffer.count) }
        if result > 0 { unsafe value = Array(buffer[..<Int(result)]) }
        return result
      }
      switch result {
      case Int64(-ENODATA): return nil
      case Int64(-ERANGE) where capacity < maximumAttributeByteCount: capacity = maximumAttributeByteCount
      default:
        _ = try checked("getxattr", result, attribute)
        return value
      }
    }
  }
}
