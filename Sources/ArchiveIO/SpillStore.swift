internal import Glibc

/// Bytes that are appended and read again later: the first ones in memory, the rest in an unlinked temporary file.
///
/// For what has to grow with the work without growing the memory. One thread at a time.
package final class SpillStore {
  private let memoryLimit: Int
  private var memory: [UInt8] = []
  /// Bytes that come after the file's.
  private var pending: [UInt8] = []
  private var file: Descriptor?
  private var fileByteCount: Int64 = 0

  /// Writes to the file are put together to this size.
  private static let pendingLimit = 64 << 10

  /// Keeps so many bytes in memory before a file is made.
  package init(memoryLimit: Int = 256 << 10) { self.memoryLimit = max(memoryLimit, 0) }

  /// How many bytes were appended; the offset of the next.
  package var byteCount: Int64 { Int64(memory.count) + fileByteCount + Int64(pending.count) }

  /// Appends bytes and returns the offset of the first. After a failure the store cannot be relied on.
  @discardableResult
  package func append(_ bytes: some Collection<UInt8>) throws(SystemError) -> Int64 {
    let offset = byteCount
    if file == nil, fileByteCount == 0, pending.isEmpty, bytes.count <= memoryLimit - memory.count {
      memory.append(contentsOf: bytes)
      return offset
    }
    pending.append(contentsOf: bytes)
    if pending.count >= Self.pendingLimit { try flush() }
    return offset
  }

  /// Reads bytes that were appended. `EINVAL` for a range that was not.
  package func read(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
    guard offset >= 0, count >= 0, offset <= byteCount, Int64(count) <= byteCount - offset else {
      throw SystemError("pread", errno: EINVAL)
    }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var position = offset
    let end = offset + Int64(count)
    let memoryEnd = Int64(memory.count)
    if position < memoryEnd {
      let stop = min(end, memoryEnd)
      result.append(contentsOf: memory[Int(position)..<Int(stop)])
      position = stop
    }
    let fileEnd = memoryEnd + fileByteCount
    if position < min(end, fileEnd) {
      let stop = min(end, fileEnd)
      try readFile(at: position - memoryEnd, count: Int(stop - position), into: &result)
      position = stop
    }
    if position < end { result.append(contentsOf: pending[Int(position - fileEnd)..<Int(end - fileEnd)]) }
    return result
  }

  private func readFile(at offset: Int64, count: Int, into result: inout [UInt8]) throws(SystemError) {
    guard let descriptor = file?.rawValue else { throw SystemError("pread", errno: EBADF) }
    var bytes = [UInt8](repeating: 0, count: count)
    let done = try unsafe bytes.withUnsafeMutableBufferPointer { (buffer) throws(SystemError) in
      try unsafe FileSystem.pread(descriptor, into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
    if done != count { throw SystemError("pread", errno: EIO) }
    result.append(contentsOf: bytes)
  }

  private func flush() throws(SystemError) {
    if file == nil { file = .some(try TemporaryFile.make()) }
    guard let descriptor = file?.rawValue else { throw SystemError("pwrite", errno: EBADF) }
    let offset = fileByteCount
    try unsafe pending.withUnsafeBufferPointer { (buffer) throws(SystemError) in
      try unsafe FileSystem.pwrite(descriptor, UnsafeRawBufferPointer(buffer), at: offset)
    }
    fileByteCount += Int64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }
}
