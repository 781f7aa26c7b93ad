internal import CLinuxShims
internal import Glibc

/// The rest of a gathered write: pieces of memory of which a part is written already.
@safe
struct GatheredBytes {
  private var pieces: [starc_piece]
  private var next = 0
  /// What is still to be written.
  private(set) var byteCount = 0

  @unsafe init(_ bytes: UnsafeRawBufferPointer) { unsafe self.init([bytes]) }

  @unsafe init(_ buffers: [UnsafeRawBufferPointer]) {
    unsafe pieces = []
    unsafe pieces.reserveCapacity(buffers.count)
    for index in unsafe buffers.indices where unsafe buffers[index].count > 0 {
      let buffer = unsafe buffers[index]
      unsafe pieces.append(starc_piece(base: buffer.baseAddress, byte_count: buffer.count))
      byteCount += buffer.count
    }
  }

  /// Calls `body` with what is left, at most 16 pieces and `limit` bytes, and takes off
  /// as many bytes as it returns.
  @unsafe mutating func advance(
    limit: Int = .max, _ body: (UnsafePointer<starc_piece>, Int) throws(SystemError) -> Int64
  ) throws(SystemError) {
    var count = min(unsafe pieces.count - next, 16)
    var total = 0
    for index in 0..<count {
      total += unsafe pieces[next + index].byte_count
      if total >= limit {
        count = index + 1
        break
      }
    }
    let excess = max(total - limit, 0)
    if excess > 0 { unsafe pieces[next + count - 1].byte_count -= excess }
    let (first, last) = (next, next + count - 1)
    let outcome: Result<Int64, SystemError> = unsafe pieces.withUnsafeBufferPointer { list in
      guard let base = list.baseAddress else { return .success(0) }
      do throws(SystemError) { return .success(try unsafe body(base + first, count)) } catch { return .failure(error) }
    }
    if excess > 0 { unsafe pieces[last].byte_count += excess }
    let written = try outcome.get()
    take(Int(written))
  }

  /// Calls `body` until nothing is left. A write of nothing is an error, not an endless loop.
  @unsafe mutating func drain(
    _ body: (UnsafePointer<starc_piece>, Int) throws(SystemError) -> Int64
  ) throws(SystemError) {
    while byteCount > 0 {
      let before = byteCount
      try unsafe advance(body)
      if byteCount == before { throw SystemError("write", errno: EIO) }
    }
  }

  private mutating func take(_ count: Int) {
    var count = min(count, byteCount)
    byteCount -= count
    while count > 0 {
      let size = unsafe pieces[next].byte_count
      if count < size {
        unsafe pieces[next].base = unsafe pieces[next].base.map { unsafe $0 + count }
        unsafe pieces[next].byte_count = size - count
        return
      }
      count -= size
      next += 1
    }
  }
}
