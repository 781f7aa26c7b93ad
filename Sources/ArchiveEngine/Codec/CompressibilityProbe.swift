internal import ArchiveIO
internal import CZstd

/// Tells in some ten microseconds whether it is worth compressing a chunk. One thread at a time.
///
/// Small samples, evenly spread, are compressed at level 1, until they have saved as much as would make a 32nd of all of them: compressible
/// content pays for one sample. Content that saves less is stored. Where only a part p of a chunk would shrink, 16 samples overlook it with a
/// probability of (1 - p)^16: 3 % for a fifth of the chunk.
@safe final class CompressibilityProbe: @unchecked Sendable {
  private static let sampleCount = 16
  private static let sampleByteCount = 4096
  /// What all samples together have to save: a 32nd. Pictures (JPEG and PNG files) save about a hundredth, and compressing them
  /// takes most of the time of archiving them.
  private static let neededGain = sampleCount * sampleByteCount / 32

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

  /// Whether compressing `content` is worth the time. Chunks of less than all samples always are.
  func isWorthCompressing(_ content: UnsafeRawBufferPointer) -> Bool {
    let total = Self.sampleCount * Self.sampleByteCount
    guard content.count > total * 2 else { return true }
    var gain = 0
    let stride = (content.count - Self.sampleByteCount) / (Self.sampleCount - 1)
    for index in 0..<Self.sampleCount {
      let sample = unsafe UnsafeRawBufferPointer(
        rebasing: content[index * stride..<index * stride + Self.sampleByteCount])
      let result = unsafe ZSTD_compress2(
        context, scratch.base, scratch.byteCount, sample.baseAddress, sample.count)
      if ZSTD_isError(result) != 0 { return true }
      gain += max(0, sample.count - result)
      if gain >= Self.neededGain { return true }
    }
    return false
  }
}
