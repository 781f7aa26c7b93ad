internal import ArchiveIO
internal import CZstd

/// Tells in some ten microseconds whether it is worth compressing a chunk. One thread at a time.
///
/// Small samples, evenly spread, are compressed at level 1, until they have saved as much as would make a 32nd of all of them: compressible
/// content pays for one sample. Content that saves less is stored. Where only a part p of a chunk would shrink, 16 samples overlook it with a
/// probability of (1 - p)^16: 3 % for a fifth of the chunk.
@safe final class CompressibilityProbe: @unchecked Sendable {
  static let sampleCount = 16
  static let sampleByteCount = 4096
  /// What all samples together have to save: a 32nd. Pictures (JPEG and PNG files) save about a hundredth, and compressing them
  /// takes most of the time of archiving them.
  static let neededByteCount = sampleCount * sampleByteCount / 32

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

  /// Where the samples of a chunk lie; nil for chunks that are too small to be judged by samples.
  static func sampleOffsets(contentByteCount: Int) -> [Int]? {
    guard contentByteCount > sampleCount * sampleByteCount * 2 else { return nil }
    let stride = (contentByteCount - sampleByteCount) / (sampleCount - 1)
    return (0..<sampleCount).map { $0 * stride }
  }

  /// Whether compressing `content` is worth the time. Chunks of less than all samples always are.
  ///
  /// Throws where memory is missing: the archive's bytes do not depend on that.
  func isWorthCompressing(_ content: UnsafeRawBufferPointer) throws(ArchiveError) -> Bool {
    guard let offsets = Self.sampleOffsets(contentByteCount: content.count) else { return true }
    var savedByteCount = 0
    for offset in offsets {
      savedByteCount += try unsafe saving(
        of: UnsafeRawBufferPointer(rebasing: content[offset..<offset + Self.sampleByteCount]))
      if savedByteCount >= Self.neededByteCount { return true }
    }
    return false
  }

  /// How many bytes compressing a sample saves. Throws where memory is missing.
  func saving(of sample: UnsafeRawBufferPointer) throws(ArchiveError) -> Int {
    let result = unsafe ZSTD_compress2(context, scratch.base, scratch.byteCount, sample.baseAddress, sample.count)
    if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "compressing") }
    return max(0, sample.count - result)
  }
}
