internal import ArchiveIO

/// An archive that can be read at any place: an open regular file. Threads share it; nothing here moves the file's position.
final class ArchiveFile: Sendable {
  let descriptor: SharedDescriptor
  let byteCount: UInt64

  /// - Parameter descriptor: a regular file open for reading.
  init(_ descriptor: SharedDescriptor, byteCount: UInt64) {
    self.descriptor = descriptor
    self.byteCount = byteCount
  }

  /// Reads exactly the range, which the caller has checked against a limit.
  func read(_ range: Range<UInt64>) throws(ArchiveError) -> [UInt8] {
    let count = Int(range.upperBound - range.lowerBound)
    var failure: ArchiveError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(ArchiveError) {
        try unsafe read(
          at: range.lowerBound, into: UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count))
        initialized = count
      } catch {
        failure = error
        initialized = 0
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Fills `buffer` from the offset on.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(ArchiveError) {
    guard offset <= byteCount, UInt64(buffer.count) <= byteCount - offset else {
      throw ArchiveError(
        .truncated, "the archive ends before byte \(offset &+ UInt64(buffer.count))", offset: byteCount)
    }
    let count: Int
    do throws(SystemError) {
      count = try unsafe FileSystem.pread(descriptor.rawValue, into: buffer, at: Int64(offset))
    } catch { throw ArchiveError(error).at(offset: offset) }
    guard count == buffer.count else {
      throw ArchiveError(.truncated, "the archive became shorter while it was read", offset: offset + UInt64(count))
    }
  }
}
