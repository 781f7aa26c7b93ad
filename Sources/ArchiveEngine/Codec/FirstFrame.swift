internal import ArchiveFormat

/// The mark of our archives: the first frame states its content size in a field of eight bytes.
///
/// Every decoder takes that, and no encoder chooses it for a frame under 4 GiB. So a file that was cut right behind its first frame is known as a truncated archive of
/// ours and not taken for somebody else's complete one (specification, "First frame").
package enum FirstFrame {
  /// The most by which the header grows: the codec may have chosen one byte, or none, for the size.
  static let growth = 8

  /// The header with a content size of eight bytes; `header` states the size in fewer.
  package static func marked(header: [UInt8]) -> [UInt8] {
    let descriptor = header[4]
    let isSingleSegment = descriptor & 0x20 != 0
    let sizeOffset = isSingleSegment ? 5 : 6
    var size: UInt64 = 0
    for (index, byte) in header[sizeOffset...].enumerated() { size |= UInt64(byte) << UInt64(8 * index) }
    // The field of two bytes counts from 256 on.
    if descriptor >> 6 == 1 { size += 256 }
    var result = Array(header[..<4])
    result.append(descriptor | 0xC0)
    if !isSingleSegment { result.append(header[5]) }
    for shift in stride(from: 0, to: 64, by: 8) { result.append(UInt8(truncatingIfNeeded: size >> UInt64(shift))) }
    return result
  }

  /// Whether a frame header carries the mark.
  static func isMarked(descriptor: UInt8, contentByteCount: UInt64?) -> Bool {
    descriptor >> 6 == 3 && (contentByteCount ?? .max) <= UInt64(UInt32.max)
  }

  /// Moves the first frame to the front of the buffer, with the mark.
  ///
  /// - Parameter byteCount: bytes of the frame, which lies ``growth`` bytes behind the buffer's start.
  /// - Returns: bytes of the frame as it is then.
  static func mark(_ byteCount: Int, in buffer: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    let gap = growth
    let frame = unsafe UnsafeRawBufferPointer(start: base + gap, count: byteCount)
    let start: ZstdFraming.FrameStart?
    do throws(FormatError) { start = try unsafe ZstdFraming.parseStart(frame.bindMemory(to: UInt8.self).span) } catch {
      throw ArchiveError(error)
    }
    guard let headerByteCount = start?.headerByteCount else {
      throw ArchiveError(.damaged, "the codec made a frame without a header")
    }
    let header = marked(header: unsafe Array(frame[..<headerByteCount]))
    let bodyByteCount = byteCount - headerByteCount
    unsafe (base + header.count).copyMemory(from: base + gap + headerByteCount, byteCount: bodyByteCount)
    unsafe header.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
    return header.count + bodyByteCount
  }
}
