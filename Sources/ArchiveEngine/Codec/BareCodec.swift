/// libzstd as the engine uses it, with nothing around it: what benchmarks compare whole runs with. One thread at a time.
package final class BareCodec {
  private let compressor: ZstdCompressor
  private let decompressor: ZstdDecompressor
  private let stop = StopSignal()

  /// Contexts with the parameters of a run.
  package init(level: Int, chunkByteCount: Int) throws(ArchiveError) {
    compressor = try ZstdCompressor(level: level, chunkByteCount: chunkByteCount)
    decompressor = try ZstdDecompressor()
  }

  /// Compresses a chunk; the size of its frame, nil when that does not fit.
  package func compress(
    _ chunk: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> Int? {
    try unsafe compressor.compress(chunk, into: output, stop: stop)
  }

  /// Decompresses a frame; the size of its content.
  package func decompress(
    _ frame: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ArchiveError) -> Int {
    try unsafe decompressor.decompressFrame(frame, into: output)
  }
}
