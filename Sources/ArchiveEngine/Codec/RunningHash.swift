internal import ArchiveFormat
internal import CXXHash

/// XXH3-128 over bytes that come in pieces. One thread at a time.
@safe final class RunningHash128: @unchecked Sendable {
  private let state: OpaquePointer

  init() throws(ArchiveError) {
    unsafe state = try CodecContext.makeHashState()
    reset()
  }

  deinit { unsafe XXH3_freeState(state) }

  func reset() { unsafe XXH3_128bits_reset(state) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe starc_xxh3_128_update(state, bytes.baseAddress, bytes.count)
  }

  func digest() -> Hash128 {
    let value = unsafe XXH3_128bits_digest(state)
    return Hash128(high: value.high64, low: value.low64)
  }
}

/// XXH3-64 over bytes that come in pieces. One thread at a time.
@safe final class RunningHash64: @unchecked Sendable {
  private let state: OpaquePointer

  init() throws(ArchiveError) {
    unsafe state = try CodecContext.makeHashState()
    reset()
  }

  deinit { unsafe XXH3_freeState(state) }

  func reset() { unsafe XXH3_64bits_reset(state) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    unsafe starc_xxh3_64_update(state, bytes.baseAddress, bytes.count)
  }

  func digest() -> UInt64 { unsafe XXH3_64bits_digest(state) }
}

extension XXH3 {
  /// XXH3-64 of raw memory.
  static func hash64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    unsafe starc_xxh3_64(bytes.baseAddress, bytes.count)
  }

  /// XXH3-128 of raw memory.
  static func hash128(_ bytes: UnsafeRawBufferPointer) -> Hash128 {
    let value = unsafe starc_xxh3_128(bytes.baseAddress, bytes.count)
    return Hash128(high: value.high64, low: value.low64)
  }
}

/// The checksum that ends a zstd frame: the low 32 bits of XXH64, seed 0.
enum ZstdChecksum {
  static func value(_ content: UnsafeRawBufferPointer) -> UInt32 {
    UInt32(truncatingIfNeeded: unsafe XXH64(content.baseAddress, content.count, 0))
  }
}
