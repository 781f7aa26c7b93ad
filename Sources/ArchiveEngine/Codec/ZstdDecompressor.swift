internal import ArchiveIO
internal import CZstd

/// One reusable decompression context. One thread at a time.
@safe final class ZstdDecompressor: @unchecked Sendable {
  private let context: OpaquePointer

  /// - Parameter maximumWindowLog: larger windows are refused, which bounds the memory of streaming decoding.
  init(maximumWindowLog: Int = 27) throws(ArchiveError) {
    unsafe context = try CodecContext.makeDecompression()
    unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Int32(maximumWindowLog))
  }

  deinit { unsafe ZSTD_freeDCtx(context) }

  /// Decodes exactly one frame that states its content size.
  ///
  /// - Returns: the content size.
  func decompressFrame(
    _ frame: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> Int {
    let result = unsafe ZSTD_decompressDCtx(
      context, output.baseAddress, output.count, frame.baseAddress, frame.count)
    if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "decompressing") }
    return result
  }

  /// Forgets an unfinished frame.
  func reset() { unsafe ZSTD_DCtx_reset(context, ZSTD_reset_session_only) }

  /// Decodes some of a frame of any size.
  ///
  /// - Returns: bytes taken, bytes produced and whether the frame ended here.
  func decompressSome(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> (consumed: Int, produced: Int, isFrameComplete: Bool) {
    var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let result = unsafe ZSTD_decompressStream(context, &target, &source)
    if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "decompressing") }
    return unsafe (source.pos, target.pos, result == 0)
  }
}
