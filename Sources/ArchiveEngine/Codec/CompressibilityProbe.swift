internal import ArchiveIO
internal import CZstd

/// Tells in some ten microseconds whether it is worth compressing a chunk. One thread at a time.
///
/// Small samples, evenly spread, are compressed at level 1; the first that shrinks ends the test with "yes", so compressible content pays for
/// one sample. Content of which no sample shrinks is stored. Where only a part p of a chunk would shrink, 16 samples overlook it with a
/// probability of (1 - p)^16: 3 % for a fifth of the chunk.
@safe final class CompressibilityProbe: @unchecked Sendable {
  static let sampleCount = 16
  static let sampleByteCount = 4096
  /// A sample that saves less than a 64th says nothing: measured on JPEG files, whose headers save about a hundredth.
  private static let gainThreshold = sampleByteCount - sampleByteCount / 64

  private let context: OpaquePointer
  private let scratch: Buffer

  init() throws(ArchiveError) {
    guard let context = unsafe ZSTD_createCCtx() else {
      throw ArchiveError(.outOfMemory, "no memory for a compression context")
    }
    unsafe self.context = unsafe context
    unsafe ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1)
    do { scratch = try Buffer(byteCount: Self.sampleByteCount * 2) } catch {
      unsafe ZSTD_freeCCtx(context)
      throw ArchiveError(error)
    }
  }

  deinit { unsafe ZSTD_freeCCtx(context) }

  /// Where the samples of a chunk lie; nil for chunks that are too small to be judged by samples.
  static func sampleOffsets(contentByteCount: Int) -> [Int]? {
    guard contentByteCount > sampleCount * sampleByteCount * 2 else { return nil }
    let stride = (contentByteCount - sampleByteCount) / (sampleCount - 1)
    return (0..<sampleCount).map { $0 * stride }
  }

  /// Whether compressing `content` is worth the time. Chunks of less than all samples always are.
  func isWorthCompressing(_ content: UnsafeRawBufferPointer) -> Bool {
    guard let offsets = Self.sampleOffsets(contentByteCount: content.count) else { return true }
    for offset in offsets {
      if unsafe shrinks(UnsafeRawBufferPointer(rebasing: content[offset..<offset + Self.sampleByteCount])) {
        return true
      }
    }
    return false
  }

  /// Whether a sample says that compression is worth the time.
  func shrinks(_ sample: UnsafeRawBufferPointer) -> Bool {
    let result = unsafe ZSTD_compress2(context, scratch.base, scratch.byteCount, sample.baseAddress, sample.count)
    return ZSTD_isError(result) != 0 || result < Self.gainThreshold
  }
}
