internal import CLinuxShims
internal import Glibc

extension FileSystem {
  /// How the kernel shall read ahead.
  package enum Advice: Int32, Sendable {
    case sequential, willNeed, doNotNeed, random
  }

  /// Reads once, at the file's position; 0 is the end.
  package static func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    Int(try unsafe checked("read", starc_read(descriptor, buffer.baseAddress, buffer.count)))
  }

  /// Reads at the file's position until the buffer is full or the file ends; returns the number of bytes.
  package static func readFully(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
  ) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = try unsafe read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Reads at an offset until the buffer is full or the file ends; returns the number of bytes.
  package static func pread(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let (place, overflow) = offset.addingReportingOverflow(Int64(done))
      if overflow { throw SystemError("pread", errno: EOVERFLOW) }
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count = Int(try unsafe checked("pread", starc_pread(descriptor, rest.baseAddress, rest.count, place)))
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all bytes at an offset.
  package static func pwrite(
    _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let (place, overflow) = offset.addingReportingOverflow(Int64(done))
      if overflow { throw SystemError("pwrite", errno: EOVERFLOW) }
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = Int(try unsafe checked("pwrite", starc_pwrite(descriptor, rest.baseAddress, rest.count, place)))
      if count == 0 { throw SystemError("pwrite", errno: EIO) }
      done += count
    }
  }

  /// Writes all bytes at the position of a regular file.
  package static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var pieces = unsafe GatheredBytes(bytes)
    try unsafe pieces.drain { pointer, count throws(SystemError) in
      try unsafe checked("write", starc_writev_file(descriptor, pointer, count))
    }
  }

  /// Writes all bytes of all pieces at the position of a regular file.
  package static func writev(_ descriptor: Int32, _ buffers: [UnsafeRawBufferPointer]) throws(SystemError) {
    var pieces = unsafe GatheredBytes(buffers)
    try unsafe pieces.drain { pointer, count throws(SystemError) in
      try unsafe checked("write", starc_writev_file(descriptor, pointer, count))
    }
  }

  /// Sets the size; new bytes are a hole.
  package static func truncate(_ descriptor: Int32, byteCount: Int64) throws(SystemError) {
    _ = try checked("ftruncate", starc_ftruncate(descriptor, byteCount))
  }

  /// Reserves space without changing the size. False where the file system cannot.
  package static func reserve(
    _ descriptor: Int32, at offset: Int64, byteCount: Int64
  ) throws(SystemError) -> Bool {
    let result = starc_fallocate_keep_size(descriptor, offset, byteCount)
    if result == Int64(-EOPNOTSUPP) || result == Int64(-ENOSYS) { return false }
    _ = try checked("fallocate", result)
    return true
  }

  /// Brings a file's or directory's contents to the disk.
  package static func syncFile(_ descriptor: Int32) throws(SystemError) {
    _ = try checked("fsync", starc_fsync(descriptor))
  }

  /// Brings everything of the file system on which `descriptor` lies to the disk.
  package static func syncFileSystem(_ descriptor: Int32) throws(SystemError) {
    _ = try checked("syncfs", starc_syncfs(descriptor))
  }

  /// What a search for data or holes found.
  package enum SeekResult: Sendable, Equatable {
    case found(Int64)
    /// Nothing of the kind from the offset to the end of the file.
    case none
    /// The file system does not know its holes: take the file as all data.
    case unsupported
  }

  /// The next offset, from `offset` on, where there are data.
  package static func seekData(_ descriptor: Int32, from offset: Int64) throws(SystemError) -> SeekResult {
    try seekResult(starc_seek_data(descriptor, offset))
  }

  /// The next offset, from `offset` on, where there is a hole; the end of the file counts as one.
  package static func seekHole(_ descriptor: Int32, from offset: Int64) throws(SystemError) -> SeekResult {
    try seekResult(starc_seek_hole(descriptor, offset))
  }

  private static func seekResult(_ result: Int64) throws(SystemError) -> SeekResult {
    switch result {
    case Int64(-ENXIO): .none
    case Int64(-EINVAL), Int64(-EOPNOTSUPP), Int64(-ENOSYS), Int64(-ESPIPE): .unsupported
    default: .found(try checked("lseek", result))
    }
  }

  /// The position of the open file, nil if it cannot be moved (a pipe, socket or terminal).
  package static func position(_ descriptor: Int32) -> Int64? {
    let result = starc_lseek(descriptor, 0, 1)
    return result < 0 ? nil : result
  }

  /// Moves the position of the open file.
  package static func setPosition(_ descriptor: Int32, to offset: Int64) throws(SystemError) {
    _ = try checked("lseek", starc_lseek(descriptor, offset, 0))
  }

  /// Tells the kernel about reads to come; failures do not matter. A `byteCount` of 0 means to the end.
  package static func advise(_ descriptor: Int32, _ advice: Advice, offset: Int64 = 0, byteCount: Int64 = 0) {
    _ = starc_fadvise(descriptor, offset, byteCount, advice.rawValue)
  }
}
