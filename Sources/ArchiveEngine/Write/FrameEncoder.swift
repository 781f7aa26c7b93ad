internal import ArchiveFormat
internal import ArchiveIO
internal import CZstd
internal import Synchronization

/// The two buffers of a chunk in the making: its content and its frame.
final class WriteSlot: Sendable {
  let input: Buffer
  let output: Buffer
  /// Bytes of names that the job in it holds besides, taken from the writer's budget for them.
  let nameByteCount = Atomic(0)

  init(inputByteCount: Int, outputByteCount: Int) throws(ArchiveError) {
    input = try system { () throws(SystemError) in try Buffer(byteCount: inputByteCount) }
    output = try system { () throws(SystemError) in try Buffer(byteCount: outputByteCount) }
  }
}

/// One data frame, ready to be written, in the buffers of its slot.
struct EncodedFrame: Sendable {
  let record: ChunkRecord
  /// For raw frames: frame header, all block headers, checksum; the content is in the slot's input. Else empty and the frame is in the slot's output.
  let rawHeaders: [UInt8]
  /// Bytes of the frame header among them.
  var frameHeaderByteCount = 0
}

/// Turns chunks into data frames. Belongs to one lane.
final class FrameEncoder {
  private let compressor: ZstdCompressor?
  private let probe: CompressibilityProbe?
  private let verifier: ZstdDecompressor?
  private let verifyBuffer: Buffer?
  private let hash: RunningHash64
  private let stop: StopSignal

  init(options: WriterOptions, inputByteCount: Int, stop: StopSignal) throws(ArchiveError) {
    self.stop = stop
    hash = try RunningHash64()
    if options.level > 0 {
      compressor = try ZstdCompressor(level: options.level, chunkByteCount: options.chunkByteCount)
      probe = try CompressibilityProbe()
    } else {
      compressor = nil
      probe = nil
    }
    if options.verifiesWrites {
      verifier = try ZstdDecompressor()
      verifyBuffer = try system { () throws(SystemError) in try Buffer(byteCount: inputByteCount) }
    } else {
      verifier = nil
      verifyBuffer = nil
    }
  }

  /// Encodes the first `byteCount` bytes of the slot's input.
  ///
  /// - Parameter isFirst: the frame begins the archive and states its content size in eight bytes, which marks the archive as one of ours.
  func encode(_ slot: WriteSlot, byteCount: Int, isFirst: Bool) throws(ArchiveError) -> EncodedFrame {
    let content = unsafe UnsafeRawBufferPointer(start: slot.input.base, count: byteCount)
    if let compressor, let probe, unsafe try probe.isWorthCompressing(content) {
      // A frame that would be larger than a raw one does not fit and is stored instead.
      let capacity = min(slot.output.byteCount, RawFrame.frameByteCount(contentByteCount: byteCount) - 1)
      let output = unsafe UnsafeMutableRawBufferPointer(
        start: slot.output.base + (isFirst ? FirstFrame.growth : 0), count: capacity)
      if let compressedByteCount = try unsafe compressor.compress(content, into: output, stop: stop) {
        let storedByteCount =
          isFirst ? try unsafe FirstFrame.mark(compressedByteCount, in: slot.output.bytes) : compressedByteCount
        let frame = unsafe UnsafeRawBufferPointer(start: slot.output.base, count: storedByteCount)
        if let verifier { try unsafe verify(frame, content, with: verifier) }
        return EncodedFrame(
          record: ChunkRecord(
            storedByteCount: UInt32(storedByteCount), contentByteCount: UInt32(byteCount),
            storedHash: unsafe XXH3.hash64(frame), isStored: try unsafe hasOnlyRawBlocks(frame)),
          rawHeaders: [])
      }
    }
    return unsafe store(content, isFirst: isFirst)
  }

  /// The codec may find on its own that nothing shrinks; the index says how a frame is, not why.
  private func hasOnlyRawBlocks(_ frame: UnsafeRawBufferPointer) throws(ArchiveError) -> Bool {
    var walker = ZstdFrameWalker()
    do throws(FormatError) {
      _ = try unsafe walker.consume(frame.bindMemory(to: UInt8.self).span, in: 0..<frame.count)
    } catch { throw ArchiveError(error) }
    return walker.hasOnlyRawBlocks
  }

  private func store(_ content: UnsafeRawBufferPointer, isFirst: Bool) -> EncodedFrame {
    var headers = RawFrame.frameHeader(contentByteCount: content.count)
    if isFirst { headers = FirstFrame.marked(header: headers) }
    let frameHeaderByteCount = headers.count
    hash.reset()
    unsafe headers.withUnsafeBytes { unsafe hash.update($0) }
    var offset = 0
    repeat {
      let length = min(RawFrame.blockByteCount, content.count - offset)
      let block = RawFrame.blockHeader(byteCount: length, isLast: offset + length == content.count)
      unsafe block.withUnsafeBytes { unsafe hash.update($0) }
      unsafe hash.update(UnsafeRawBufferPointer(rebasing: content[offset..<offset + length]))
      headers += block
      offset += length
    } while offset < content.count
    let checksum = RawFrame.checksum(xxh64: UInt64(unsafe ZstdChecksum.value(content)))
    unsafe checksum.withUnsafeBytes { unsafe hash.update($0) }
    headers += checksum
    return EncodedFrame(
      record: ChunkRecord(
        storedByteCount: UInt32(headers.count + content.count),
        contentByteCount: UInt32(content.count), storedHash: hash.digest(), isStored: true),
      rawHeaders: headers, frameHeaderByteCount: frameHeaderByteCount)
  }

  private func verify(
    _ frame: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer, with verifier: ZstdDecompressor
  ) throws(ArchiveError) {
    guard let buffer = verifyBuffer else { return }
    let produced = try unsafe verifier.decompressFrame(frame, into: buffer.bytes)
    let decoded = unsafe UnsafeRawBufferPointer(start: buffer.base, count: produced)
    if unsafe produced != content.count || XXH3.hash64(decoded) != XXH3.hash64(content) {
      throw ArchiveError(
        .damaged, "a frame that was just compressed does not decode to its content: codec or memory fault")
    }
  }
}

extension EncodedFrame {
  /// The frame's bytes as the pieces of one gathering write, valid within `body`.
  func withPieces<R>(
    of slot: WriteSlot, _ body: ([UnsafeRawBufferPointer]) throws(ArchiveError) -> R
  ) throws(ArchiveError) -> R {
    guard !rawHeaders.isEmpty else {
      return try unsafe body([UnsafeRawBufferPointer(start: slot.output.base, count: Int(record.storedByteCount))])
    }
    let contentByteCount = Int(record.contentByteCount)
    let result: Result<R, ArchiveError> = unsafe rawHeaders.withUnsafeBytes { headers in
      var pieces: [UnsafeRawBufferPointer] = unsafe []
      var headerOffset = 0
      var headerEnd = frameHeaderByteCount + 3
      var offset = 0
      repeat {
        let length = min(RawFrame.blockByteCount, contentByteCount - offset)
        unsafe pieces.append(UnsafeRawBufferPointer(rebasing: headers[headerOffset..<headerEnd]))
        unsafe pieces.append(UnsafeRawBufferPointer(start: slot.input.base + offset, count: length))
        headerOffset = headerEnd
        headerEnd += 3
        offset += length
      } while offset < contentByteCount
      unsafe pieces.append(UnsafeRawBufferPointer(rebasing: headers[headerOffset..<headers.count]))
      do throws(ArchiveError) { return try unsafe .success(body(pieces)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
