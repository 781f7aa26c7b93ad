internal import ArchiveIO

/// The bytes of an archive in order, with a look ahead. One thread.
final class StreamInput {
  private enum Source {
    case file(ArchiveFile)
    case descriptor(DescriptorReader)
  }

  private let source: Source
  private let buffer: Buffer
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  /// Offset in the archive of the first unread byte.
  private(set) var offset: UInt64 = 0

  private init(_ source: Source) throws(ArchiveError) {
    self.source = source
    buffer = try system { () throws(SystemError) in try Buffer(byteCount: 1 << 20) }
  }

  /// Reads a file from its first byte on.
  convenience init(_ file: ArchiveFile) throws(ArchiveError) { try self.init(.file(file)) }

  /// Reads what comes from a pipe, socket or terminal.
  convenience init(_ reader: DescriptorReader) throws(ArchiveError) { try self.init(.descriptor(reader)) }

  /// The unread bytes at hand.
  var unread: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: buffer.base + start, count: end - start) }

  /// Bytes at hand.
  var unreadByteCount: Int { end - start }

  /// Reads until at least `count` bytes are at hand or the input ends; `count` is at most 512 KiB.
  ///
  /// - Returns: bytes at hand.
  @discardableResult
  func ensure(_ count: Int) throws(ArchiveError) -> Int {
    while end - start < count, !isAtEnd {
      if start > 0 {
        unsafe buffer.base.copyMemory(from: buffer.base + start, byteCount: end - start)
        end -= start
        start = 0
      }
      let room = unsafe UnsafeMutableRawBufferPointer(start: buffer.base + end, count: buffer.byteCount - end)
      let got = try unsafe fill(room)
      if got == 0 { isAtEnd = true }
      end += got
    }
    return end - start
  }

  /// Takes bytes at hand as read.
  func skip(_ count: Int) {
    start += count
    offset += UInt64(count)
  }

  /// Reads straight into `target` when nothing is at hand, else from what is at hand; 0 is the end.
  func read(into target: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    if end > start {
      let count = min(target.count, end - start)
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(start: buffer.base + start, count: count))
      skip(count)
      return count
    }
    if isAtEnd { return 0 }
    let count = try unsafe fill(target)
    if count == 0 { isAtEnd = true }
    offset += UInt64(count)
    return count
  }

  private func fill(_ room: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    switch source {
    case .file(let file):
      let position = offset + UInt64(end - start)
      let count = min(room.count, Int(min(file.byteCount - min(position, file.byteCount), UInt64(Int.max))))
      guard count > 0 else { return 0 }
      try unsafe file.read(at: position, into: UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
      return count
    case .descriptor(let reader):
      do throws(SystemError) { return try unsafe reader.read(into: room) } catch {
        throw ArchiveError(error).at(offset: offset + UInt64(end - start))
      }
    }
  }
}
