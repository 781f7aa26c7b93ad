internal import CLinuxShims
internal import Glibc

/// A regular file that several threads fill, each at places of its own, from where the descriptor's position was on.
package final class PlacedFile: Sendable {
  private let descriptor: SharedDescriptor
  private let token: CancellationToken?
  private let start: Int64

  /// Bytes between two looks at the token.
  private static let stepByteCount = 4 << 20

  /// nil for what is no regular file, is not open for writing, or is one to which everything is appended wherever it is to go.
  package init?(_ descriptor: SharedDescriptor, token: CancellationToken? = nil) throws(SystemError) {
    guard try FileSystem.status(of: descriptor.rawValue).kind == .regular else { return nil }
    let flags = Int32(truncatingIfNeeded: try checked("fcntl", starc_getfl(descriptor.rawValue)))
    guard flags & O_APPEND == 0, flags & O_ACCMODE != O_RDONLY else { return nil }
    guard let start = FileSystem.position(descriptor.rawValue) else { return nil }
    self.descriptor = descriptor
    self.token = token
    self.start = start
  }

  /// Writes all bytes of all pieces, so many bytes behind the start. Any thread.
  @unsafe package func write(_ buffers: [UnsafeRawBufferPointer], at offset: UInt64) throws(SystemError) {
    var pieces = unsafe GatheredBytes(buffers)
    let end = pieces.byteCount
    while pieces.byteCount > 0 {
      try token?.check()
      let before = pieces.byteCount
      guard let place = Int64(exactly: offset + UInt64(end - before)), place <= Int64.max - start else {
        throw SystemError("write", errno: EFBIG)
      }
      try unsafe pieces.advance(limit: Self.stepByteCount) { list, count throws(SystemError) in
        try unsafe checked("write", starc_pwritev_file(descriptor.rawValue, list, count, start + place))
      }
      if pieces.byteCount == before { throw SystemError("write", errno: EIO) }
    }
  }

  /// Moves the descriptor's position behind so many bytes, as if they had been written one after the other.
  package func finish(byteCount: UInt64) throws(SystemError) {
    try FileSystem.setPosition(descriptor.rawValue, to: start + Int64(clamping: byteCount))
  }
}
