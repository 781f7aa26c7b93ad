internal import ArchiveIO
internal import CZstd

/// Tells what a piece of a chunk compresses to behind a part of what precedes it, as in a frame of all of it. One thread at a time.
@safe final class PieceCompressor {
  private let context: OpaquePointer

  /// With the parameters that a ``ZstdCompressor`` uses for whole chunks: libzstd takes other ones for small inputs unless it is told.
  init(level: Int, chunkByteCount: Int) throws(ArchiveError) {
    unsafe context = try CodecContext.makeCompression()
    let parameters = ZSTD_getCParams(Int32(level), UInt64(chunkByteCount), 0)
    for (parameter, value) in [
      (ZSTD_c_compressionLevel, Int32(level)), (ZSTD_c_hashLog, Int32(parameters.hashLog)),
      (ZSTD_c_chainLog, Int32(parameters.chainLog)), (ZSTD_c_searchLog, Int32(parameters.searchLog)),
      (ZSTD_c_minMatch, Int32(parameters.minMatch)), (ZSTD_c_targetLength, Int32(parameters.targetLength)),
      (ZSTD_c_strategy, Int32(parameters.strategy.rawValue)),
    ] { try set(parameter, value) }
    try CompressionParameters.apply(level: level, chunkByteCount: chunkByteCount) {
      parameter, value throws(ArchiveError) in
      try self.set(parameter, value)
    }
  }

  deinit { unsafe ZSTD_freeCCtx(context) }

  private func set(_ parameter: ZSTD_cParameter, _ value: Int32) throws(ArchiveError) {
    let result = unsafe ZSTD_CCtx_setParameter(context, parameter, value)
    if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "setting up compression") }
  }

  /// Bytes that `piece` compresses to behind `past`, and how long that took, without what looking at `past` took.
  func compress(
    _ piece: UnsafeRawBufferPointer, behind past: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> (byteCount: Int, seconds: Double) {
    unsafe ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    unsafe ZSTD_CCtx_setPledgedSrcSize(context, UInt64(piece.count))
    if past.count >= 8 { unsafe ZSTD_CCtx_refPrefix(context, past.baseAddress, past.count) }
    var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    var nothing = unsafe ZSTD_inBuffer(src: piece.baseAddress, size: 0, pos: 0)
    // The first call looks at the past.
    let begun = unsafe ZSTD_compressStream2(context, &target, &nothing, ZSTD_e_continue)
    if ZSTD_isError(begun) != 0 { throw ArchiveError(zstd: begun, doing: "compressing") }
    let start = ContinuousClock.now
    var source = unsafe ZSTD_inBuffer(src: piece.baseAddress, size: piece.count, pos: 0)
    while true {
      let result = unsafe ZSTD_compressStream2(context, &target, &source, ZSTD_e_end)
      if ZSTD_isError(result) != 0 { throw ArchiveError(zstd: result, doing: "compressing") }
      if result == 0 { break }
    }
    return (unsafe target.pos, (ContinuousClock.now - start) / .seconds(1))
  }
}
