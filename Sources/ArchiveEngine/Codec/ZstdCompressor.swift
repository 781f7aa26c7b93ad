internal import ArchiveIO
internal import CZstd

/// One reusable compression context: turns a chunk into one zstd frame without copying it.
///
/// Input and output are declared stable, so that libzstd works in the caller's buffers and needs no window of its own.
/// One thread at a time.
@safe final class ZstdCompressor: @unchecked Sendable {
  /// Input between two looks at the cancellation token; also libzstd's largest block.
  private static let stepByteCount = 128 << 10

  private let context: OpaquePointer

  /// - Parameters:
  ///   - level: 1...19.
  ///   - chunkByteCount: the usual chunk, from which the table sizes follow.
  init(level: Int, chunkByteCount: Int) throws(ArchiveError) {
    unsafe context = try CodecContext.makeCompression()
    try set(ZSTD_c_compressionLevel, Int32(level))
    try set(ZSTD_c_checksumFlag, 1)
    try set(ZSTD_c_contentSizeFlag, 1)
    try set(ZSTD_c_experimentalParam9, 1)  // ZSTD_c_stableInBuffer
    try set(ZSTD_c_experimentalParam10, 1)  // ZSTD_c_stableOutBuffer
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

  /// Compresses `input` into `output` as one frame.
  ///
  /// - Returns: the frame's size, or nil when it does not fit into `output` (which is how "does not shrink" is found).
  func compress(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, stop: StopSignal
  ) throws(ArchiveError) -> Int? {
    unsafe ZSTD_CCtx_reset(context, ZSTD_reset_session_only)
    unsafe ZSTD_CCtx_setPledgedSrcSize(context, UInt64(input.count))
    var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: 0, pos: 0)
    var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    while true {
      try stop.check()
      unsafe source.size = min(input.count, source.size + Self.stepByteCount)
      let isLast = unsafe source.size == input.count
      let result = unsafe ZSTD_compressStream2(
        context, &target, &source, isLast ? ZSTD_e_end : ZSTD_e_continue)
      if ZSTD_isError(result) != 0 {
        if ZSTD_getErrorCode(result) == ZSTD_error_dstSize_tooSmall { return nil }
        throw ArchiveError(zstd: result, doing: "compressing")
      }
      if isLast && result == 0 { return unsafe target.pos }
    }
  }
}

/// The deviations from libzstd's own parameters.
enum CompressionParameters {
  /// Window limit of our frames: every decoder takes 8 MiB without being asked to.
  static let maximumWindowLog: Int32 = 23

  /// Sets the window, which a level does not choose well for independent frames of one chunk: at level 3 libzstd takes 2 MiB, and a frame of
  /// 4 MiB gains from seeing all of itself (0.3 to 1.0 % on parts of a Linux source tree, an SQLite database and a toolchain).
  ///
  /// Of level 3, the default, the table for short matches is halved (2^15 entries), so that it stays in the processor's inner caches: 3 % less
  /// processor time on a toolchain, 1 to 4 % on a container of an app and 8 % on the Linux tree for frames that are 0.3, 0.4 and 0.1 % larger
  /// (every eighth chunk, variants alternating in one process). Halving the table for long matches as well gained as much again and
  /// cost 0.5 to 1.9 % in size; doubling either table cost 8 to 20 % in time for 0.3 to 0.9 % in size.
  static func apply(
    level: Int, chunkByteCount: Int, set: (ZSTD_cParameter, Int32) throws(ArchiveError) -> Void
  ) throws(ArchiveError) {
    let chunkLog = Int32(Int.bitWidth - (chunkByteCount - 1).leadingZeroBitCount)
    try set(ZSTD_c_windowLog, min(maximumWindowLog, max(17, chunkLog)))
    if level == 3 { try set(ZSTD_c_chainLog, 15) }
  }
}
