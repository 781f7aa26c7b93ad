internal import ArchiveIO
internal import CZstd

/// Tells in some ten microseconds whether it is worth compressing a chunk. One thread at a time.
///
/// Small samples, evenly spread, are compressed at level 1; the first that shrinks ends the test with "yes", so compressible content pays for
/// one sample. Content of which no sample shrinks is stored. Where only a part p of a chunk would shrink, 16 samples overlook it with a
/// probability of (1 - p)^16: 3 % for a fifth of the chunk.
@safe final class CompressibilityProbe: @unchecked Sendable {
  private static let sampleCount = 16
  private static let sampleByteCount = 4096
  /// A sample that saves less than a 64th says nothing: measured on JPEG files, whose headers save about a hundredth.
  private static let gainThreshold = sampleByteCount - sampleByteCount / 64

  private let context: OpaquePointer
  private let scratch: Buffer

  init() throws(ArchiveError) {
    unsafe context = try CodecContext.makeCompression()
    unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
    do { scratch = try Buffer(byteCount: Self.sampleByteCount * 2) } catch {
      unsafe ZSTD_freeCCtx(context)
      throw ArchiveError(error)
    }
  }

  deinit { unsafe ZSTD_freeCCtx(context) }

  /// Whether compressing `content` is worth the time. Chunks of less than all samples always are.
  ///
  /// Throws where memory is missing: the archive's bytes do not depend on that.
  func isWorthCompressing(_ content: UnsafeRawBufferPointer) throws(ArchiveError) -> Bool {
    let total = Self.sampleCount * Self.sampleByteCount
    guard content.count > total * 2 else { return true }
    let stride = (content.count - Self.sampleByteCount) / (Self.sampleCount - 1)
    for index in 0..<Self.sampleCount {
      let sample = unsafe UnsafeRawBufferPointer(
        rebasing: content[index * stride..<index * stride + Self.sampleByteCount])
      let result = unsafe ZSTD_compress2(
        context, scratch.base, scratch.byteCount, sample.baseAddress, sample.count)
      if ZSTD_isError(result) != 0, ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation {
        throw ArchiveError(zstd: result, doing: "compressing")
      }
      if ZSTD_isError(result) != 0 || result < Self.gainThreshold { return true }
    }
    return false
  }
}
