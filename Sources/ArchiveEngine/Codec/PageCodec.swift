internal import ArchiveFormat
internal import CZstd

/// Compresses and decompresses index pages. One thread at a time.
final class PageCodec {
  /// Measured on a tree of 300,000 small files: level 9 makes the index a few per cent smaller and its tables take 8 MB more in every lane.
  private static let level: Int32 = 3
  private var compressed: [UInt8] = []
  /// What one page may take in memory: as stored, as decoded and as values.
  let memoryByteCount: Int
  /// What the values of the page that was decoded last take.
  private(set) var lastMemoryByteCount = 0

  init(memoryByteCount: Int = .max) { self.memoryByteCount = memoryByteCount }

  /// The page's frame as stored, and what the directory says of it.
  func encode(_ page: IndexPage) throws(ArchiveError) -> (frame: [UInt8], summary: PageSummary) {
    let payload = try format { () throws(FormatError) in try page.encoded() }
    let bound = ZSTD_compressBound(payload.count)
    if compressed.count < bound { compressed = [UInt8](repeating: 0, count: bound) }
    // Not kept: its tables would take their place in every lane between two pages.
    let context = unsafe try CodecContext.makeCompression()
    defer { unsafe ZSTD_freeCCtx(context) }
    let result = unsafe compressed.withUnsafeMutableBytes { target in
      unsafe payload.withUnsafeBytes { source in
        unsafe ZSTD_compressCCtx(
          context, target.baseAddress, target.count, source.baseAddress, source.count, Self.level)
      }
    }
    if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "compressing an index page") }
    let frame = try format { () throws(FormatError) in
      try PageFrame.wrap(compressed: Array(compressed[..<result]).span, decodedByteCount: payload.count)
    }
    let summary = try format { () throws(FormatError) in try PageSummary(page: page, frame: frame.span) }
    return (frame, summary)
  }

  /// The decoded payload of a page frame.
  func decodePayload(_ frame: Span<UInt8>) throws(ArchiveError) -> [UInt8] {
    let (byteCount, range) = try format { () throws(FormatError) in try PageFrame.parse(frame) }
    try checkMemory(frame.count + byteCount)
    let context = unsafe try CodecContext.makeDecompression()
    defer { unsafe ZSTD_freeDCtx(context) }
    var result = 0
    let payload = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { target, count in
      result = unsafe frame.extracting(range).withUnsafeBytes { source in
        unsafe ZSTD_decompressDCtx(
          context, target.baseAddress, byteCount, source.baseAddress, source.count)
      }
      count = ZSTD_isError(result) != 0 ? 0 : result
    }
    if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "decompressing an index page") }
    guard result == byteCount else {
      throw ArchiveError(.damaged, "an index page decodes to \(result) bytes where it states \(byteCount)")
    }
    return payload
  }

  /// The page in a frame.
  func decode(_ frame: Span<UInt8>) throws(ArchiveError) -> IndexPage {
    let payload = try decodePayload(frame)
    var memory = PageMemory(memoryByteCount - frame.count - payload.count)
    let page = try format { () throws(FormatError) in try IndexPage(decoding: payload.span, &memory) }
    lastMemoryByteCount = memory.used
    return page
  }

  /// Throws when a page that takes so many bytes is not allowed.
  func checkMemory(_ byteCount: Int) throws(ArchiveError) {
    guard byteCount <= memoryByteCount else {
      throw ArchiveError(
        .limitExceeded,
        "an index page takes \(byteCount) bytes, more than the \(memoryByteCount) allowed for one; raise --memory-limit to read it"
      )
    }
  }
}
