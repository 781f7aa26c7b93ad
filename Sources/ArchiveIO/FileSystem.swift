internal import CLinuxShims
internal import Glibc

/// The system calls on names and descriptors, relative to a directory's descriptor.
///
/// Names are bytes; one with a NUL is refused (`EINVAL`) before any call. Nothing here follows a symlink in the last
/// component, except ``open(at:_:_:mode:)`` without `.noFollow` and ``statusFollowing(at:_:)``. All functions may be
/// called from any thread.
package enum FileSystem {
  /// Stands for the current directory in place of a directory's descriptor; for paths that the user gave.
  package static let currentDirectory = starc_AT_FDCWD

  /// Opens a name, always close-on-exec.
  package static func open(
    at directory: Int32, _ name: [UInt8], _ flags: OpenFlags, mode: UInt32 = 0
  ) throws(SystemError) -> Descriptor {
    let result = try unsafe withName("openat", name) { starcName in
      unsafe starc_openat(directory, starcName, flags.rawValue, mode)
    }
    return Descriptor(adopting: Int32(truncatingIfNeeded: result))
  }

  /// What an open descriptor refers to.
  package static func status(of descriptor: Int32) throws(SystemError) -> FileStatus {
    var status = starc_status()
    _ = try unsafe checked("statx", starc_fstatx(descriptor, &status))
    return FileStatus(status)
  }

  /// What a name refers to; a symlink is itself.
  package static func status(at directory: Int32, _ name: [UInt8]) throws(SystemError) -> FileStatus {
    var status = starc_status()
    _ = try unsafe withName("statx", name) { unsafe starc_statx(directory, $0, 0, &status) }
    return FileStatus(status)
  }

  /// What a path that the user gave refers to, symlinks followed.
  package static func statusFollowing(at directory: Int32, _ name: [UInt8]) throws(SystemError) -> FileStatus {
    var status = starc_status()
    _ = try unsafe withName("statx", name) { unsafe starc_statx(directory, $0, 1, &status) }
    return FileStatus(status)
  }

  /// A symlink's target, of any length.
  package static func readLink(at directory: Int32, _ name: [UInt8]) throws(SystemError) -> [UInt8] {
    var capacity = 256
    while true {
      var target: [UInt8] = []
      let count = try unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) {
        (buffer) throws(SystemError) in
        guard let base = buffer.baseAddress else { throw SystemError("readlinkat", errno: ENOMEM) }
        let result = try unsafe withName("readlinkat", name) { unsafe starc_readlinkat(directory, $0, base, capacity) }
        unsafe target = Array(buffer[..<min(Int(result), capacity)])
        return Int(result)
      }
      if count < capacity { return target }
      capacity *= 4
    }
  }

  /// Makes a directory; the process's umask is applied to `mode`.
  package static func makeDirectory(at directory: Int32, _ name: [UInt8], mode: UInt32) throws(SystemError) {
    _ = try unsafe withName("mkdirat", name) { unsafe starc_mkdirat(directory, $0, mode) }
  }

  /// Removes a name that is not a directory.
  package static func removeFile(at directory: Int32, _ name: [UInt8]) throws(SystemError) {
    _ = try unsafe withName("unlinkat", name) { unsafe starc_unlinkat(directory, $0, 0) }
  }

  /// Removes an empty directory.
  package static func removeDirectory(at directory: Int32, _ name: [UInt8]) throws(SystemError) {
    _ = try unsafe withName("unlinkat", name) { unsafe starc_unlinkat(directory, $0, 1) }
  }

  /// Makes a symlink with any target.
  package static func makeSymlink(
    to target: [UInt8], at directory: Int32, _ name: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withNames("symlinkat", target, name) { unsafe starc_symlinkat($0, directory, $1) }
  }

  /// Gives a file a second name. A symlink itself gets it, not its target.
  package static func makeHardLink(
    from oldDirectory: Int32, _ oldName: [UInt8], to newDirectory: Int32, _ newName: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withNames("linkat", oldName, newName) { unsafe starc_linkat(oldDirectory, $0, newDirectory, $1) }
  }

  /// Gives a file that was opened without a name (``OpenFlags/temporaryFile``) its first one.
  package static func giveName(
    to descriptor: Int32, at directory: Int32, _ name: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withName("linkat", name) { unsafe starc_link_descriptor(descriptor, directory, $0) }
  }

  /// Makes a FIFO; the process's umask is applied to `mode`.
  package static func makeFIFO(at directory: Int32, _ name: [UInt8], mode: UInt32) throws(SystemError) {
    _ = try unsafe withName("mknodat", name) { unsafe starc_mknodat(directory, $0, 0o010000 | (mode & 0o7777), 0, 0) }
  }

  /// Makes a device node (needs privileges).
  package static func makeDevice(
    at directory: Int32, _ name: [UInt8], isBlock: Bool, mode: UInt32, major: UInt32, minor: UInt32
  ) throws(SystemError) {
    let type: UInt32 = isBlock ? 0o060000 : 0o020000
    _ = try unsafe withName("mknodat", name) {
      unsafe starc_mknodat(directory, $0, type | (mode & 0o7777), major, minor)
    }
  }

  /// Renames; what has the new name is replaced.
  package static func rename(
    from oldDirectory: Int32, _ oldName: [UInt8], to newDirectory: Int32, _ newName: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withNames("renameat", oldName, newName) {
      unsafe starc_renameat(oldDirectory, $0, newDirectory, $1, 0)
    }
  }

  /// Renames; fails with `EEXIST` where the new name exists, and with `EINVAL` where the file system cannot promise it.
  package static func renameWithoutReplacing(
    from oldDirectory: Int32, _ oldName: [UInt8], to newDirectory: Int32, _ newName: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withNames("renameat2", oldName, newName) {
      unsafe starc_renameat(oldDirectory, $0, newDirectory, $1, 1)
    }
  }

  /// Exchanges two names in one step.
  package static func exchange(
    _ oldDirectory: Int32, _ oldName: [UInt8], with newDirectory: Int32, _ newName: [UInt8]
  ) throws(SystemError) {
    _ = try unsafe withNames("renameat2", oldName, newName) {
      unsafe starc_renameat(oldDirectory, $0, newDirectory, $1, 2)
    }
  }
}

/// Calls `body` with a NUL-terminated copy of `name`, on the stack unless it is very long, and checks the result.
@inline(__always)
func withName(
  _ call: StaticString, _ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Int64
) throws(SystemError) -> Int64 {
  let result = unsafe withTerminated(name, body)
  if result < 0 { throw SystemError(call, errno: Int32(truncatingIfNeeded: -result), path: name) }
  return result
}

/// The same for two names; an error names the second.
func withNames(
  _ call: StaticString, _ first: [UInt8], _ second: [UInt8],
  _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int64
) throws(SystemError) -> Int64 {
  try unsafe withName(call, second) { cSecond in
    unsafe withTerminated(first) { cFirst in unsafe body(cFirst, cSecond) }
  }
}

/// Gives -EINVAL for a name with a NUL in it.
@inline(__always)
func withTerminated(_ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Int64) -> Int64 {
  unsafe name.withUnsafeBytes { unsafe withTerminated($0, body) }
}

/// The same for a part of an array.
@inline(__always)
func withTerminated(_ name: UnsafeRawBufferPointer, _ body: (UnsafePointer<CChar>) -> Int64) -> Int64 {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: name.count + 1) { copy in
    guard let base = copy.baseAddress else { return Int64(-ENOMEM) }
    if let source = name.baseAddress {
      unsafe memcpy(base, source, name.count)
      if unsafe memchr(source, 0, name.count) != nil { return Int64(-EINVAL) }
    }
    unsafe base[name.count] = 0
    return unsafe body(base)
  }
}
