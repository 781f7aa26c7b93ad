internal import ArchiveFormat
internal import ArchiveIO

/// A chunk that was found, and how it is read.
struct SalvageChunk: Sendable, Equatable {
  let offset: UInt64
  let storedByteCount: UInt64
  let contentByteCount: UInt64
}

/// Reads chunks, one of them kept: members lie side by side. One thread.
final class SalvageChunkReader {
  /// No chunk of ours holds more, and stored bytes and content have to fit into the memory that is allowed.
  private let maximumByteCount: UInt64

  private let file: ArchiveFile
  private let decompressor: ZstdDecompressor
  private var content: [UInt8] = []
  private var current: SalvageChunk?

  init(_ file: ArchiveFile, _ limits: ReadLimits) throws(ArchiveError) {
    self.file = file
    maximumByteCount = UInt64(min(IndexLimits.chunkStoredByteCount, limits.memoryByteCount / 2))
    decompressor = try ZstdDecompressor()
  }

  /// Whether the stored bytes have this hash.
  func isHealthy(_ chunk: SalvageChunk, hash: UInt64) throws(ArchiveError) -> Bool {
    guard chunk.storedByteCount <= maximumByteCount, chunk.offset <= file.byteCount,
      chunk.storedByteCount <= file.byteCount - chunk.offset
    else { return false }
    let bytes = try file.read(chunk.offset..<chunk.offset + chunk.storedByteCount)
    return unsafe bytes.withUnsafeBytes { unsafe XXH3.hash64($0) } == hash
  }

  /// The chunk's content; nil when it does not decode to what is expected.
  func content(of chunk: SalvageChunk) throws(ArchiveError) -> [UInt8]? {
    if chunk == current { return content }
    guard chunk.storedByteCount <= maximumByteCount, chunk.contentByteCount <= maximumByteCount,
      chunk.offset <= file.byteCount, chunk.storedByteCount <= file.byteCount - chunk.offset
    else { return nil }
    current = nil
    let stored = try file.read(chunk.offset..<chunk.offset + chunk.storedByteCount)
    var isWhole = false
    let count = Int(chunk.contentByteCount)
    let decompressor = self.decompressor
    content = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      let target = UnsafeMutableRawBufferPointer(buffer)
      isWhole = unsafe stored.withUnsafeBytes { source in
        unsafe (try? decompressor.decompressFrame(source, into: target)) == count
      }
      initialized = isWhole ? count : 0
    }
    guard isWhole else { return nil }
    current = chunk
    return content
  }
}
