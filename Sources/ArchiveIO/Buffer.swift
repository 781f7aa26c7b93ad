internal import CLinuxShims

/// A block of page-aligned memory for chunks and frames, mapped once and used again and again.
///
/// Whoever holds a buffer at a time uses it alone; it passes between threads with the slot that it belongs to.
@safe
public final class Buffer: @unchecked Sendable {
  /// The size in bytes.
  public let byteCount: Int
  /// The first byte; valid as long as the buffer lives.
  @unsafe public let base: UnsafeMutableRawPointer

  /// Maps zero-filled memory. Throws `ENOMEM` instead of ending the process.
  public init(byteCount: Int) throws(SystemError) {
    guard byteCount > 0 else { throw SystemError("mmap", errno: 22) }
    var address: UnsafeMutableRawPointer?
    _ = try unsafe checked("mmap", starc_mmap(byteCount, &address))
    guard let address = unsafe address else { throw SystemError("mmap", errno: 12) }
    self.byteCount = byteCount
    unsafe base = address
  }

  deinit { unsafe starc_munmap(base, byteCount) }

  /// Gives the memory back until it is used again; the contents are lost.
  package func discard() { unsafe starc_discard(base, byteCount) }

  /// All bytes.
  @unsafe public var bytes: UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(start: base, count: byteCount)
  }
}
