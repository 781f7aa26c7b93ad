internal import ArchiveIO
internal import CLinuxShims
internal import CXXHash
internal import CZstd

/// Contexts of the codec and the hash. All their memory comes from here, so that tests can make any allocation fail.
enum CodecContext {
  private static var memory: ZSTD_customMem {
    unsafe ZSTD_customMem(customAlloc: starc_codec_allocate, customFree: starc_codec_free, opaque: nil)
  }

  /// A compression context; the caller frees it with `ZSTD_freeCCtx`.
  static func makeCompression() throws(ArchiveError) -> OpaquePointer {
    guard let context = unsafe ZSTD_createCCtx_advanced(memory) else {
      throw ArchiveError(.outOfMemory, "no memory for a compression context")
    }
    return unsafe context
  }

  /// A decompression context; the caller frees it with `ZSTD_freeDCtx`.
  static func makeDecompression() throws(ArchiveError) -> OpaquePointer {
    guard let context = unsafe ZSTD_createDCtx_advanced(memory) else {
      throw ArchiveError(.outOfMemory, "no memory for a decompression context")
    }
    return unsafe context
  }

  /// The state of a running hash; the caller frees it with `XXH3_freeState`.
  static func makeHashState() throws(ArchiveError) -> OpaquePointer {
    // The library takes no allocator of ours.
    let isRefused = (try? FaultInjection.check("malloc")) == nil
    guard !isRefused, let state = unsafe XXH3_createState() else {
      throw ArchiveError(.outOfMemory, "no memory for a hash state")
    }
    return unsafe state
  }
}
