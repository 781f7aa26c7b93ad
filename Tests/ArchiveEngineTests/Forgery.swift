import ArchiveFormat

@testable import ArchiveEngine

/// Makes archives whose index was changed and is consistent in itself.
enum Forgery {
  /// The archive with each page changed and everything above the pages made to fit.
  static func archive(_ archive: [UInt8], change: (inout IndexPage) throws -> Void) throws -> [UInt8] {
    try Self.archive(archive, changeTar: { _, _ in }, changePage: change)
  }

  /// The archive with the tar stream changed, page by page, and everything that hashes it made to fit.
  ///
  /// - Parameter changeTar: gets the page as it is and the content of its chunks, of which the size has to stay.
  static func archive(_ archive: [UInt8], changeTar: (IndexPage, inout [UInt8]) throws -> Void) throws -> [UInt8] {
    try Self.archive(archive, changeTar: changeTar, changePage: { _ in })
  }

  private static func archive(
    _ archive: [UInt8], changeTar: (IndexPage, inout [UInt8]) throws -> Void,
    changePage: (inout IndexPage) throws -> Void
  ) throws -> [UInt8] {
    var (data, others) = try Engine.frames(archive)
    let first = others[0]
    let preamble = try Preamble(decodingFrame: first.span)
    var index = try IndexAccumulator(settings: preamble.settings, opening: preamble.opening)
    let codec = PageCodec()
    var result: [UInt8] = []
    var frame = 0
    for other in others.dropFirst() {
      guard try SkippableFrame.kind(other.span) == .page else { break }
      var page = try codec.decode(other.span)
      let contents = try page.chunks.indices.map { try content(of: data[frame + $0], page.chunks[$0]) }
      var tar = contents.flatMap { $0 }
      let before = tar
      try changeTar(page, &tar)
      if tar != before {
        var start = 0
        for number in page.chunks.indices {
          let part = Array(tar[start..<start + contents[number].count])
          start += part.count
          if part == contents[number] { continue }
          let bytes = stored(part, isFirst: frame + number == 0)
          data[frame + number] = bytes
          page.chunks[number] = ChunkRecord(
            storedByteCount: UInt32(bytes.count), contentByteCount: UInt32(part.count),
            storedHash: XXH3.hash64(bytes.span), isStored: true)
        }
      }
      try changePage(&page)
      for _ in page.chunks {
        result += data[frame]
        if frame == 0 { result += index.preambleFrame }
        frame += 1
      }
      let (bytes, summary) = try codec.encode(page)
      result += bytes
      try index.add(summary)
    }
    for bytes in try index.finish(closing: Manifest()) { result += bytes }
    return result
  }

  private static func content(of frame: [UInt8], _ record: ChunkRecord) throws -> [UInt8] {
    var content = [UInt8](repeating: 0, count: Int(record.contentByteCount))
    let decompressor = try ZstdDecompressor()
    _ = try unsafe frame.withUnsafeBytes { source in
      try unsafe content.withUnsafeMutableBytes { try unsafe decompressor.decompressFrame(source, into: $0) }
    }
    return content
  }

  /// A frame of raw blocks, as the writer makes them.
  private static func stored(_ content: [UInt8], isFirst: Bool) -> [UInt8] {
    var frame = RawFrame.frameHeader(contentByteCount: content.count)
    if isFirst { frame = FirstFrame.marked(header: frame) }
    for start in stride(from: 0, to: content.count, by: RawFrame.blockByteCount) {
      let end = min(content.count, start + RawFrame.blockByteCount)
      frame += RawFrame.blockHeader(byteCount: end - start, isLast: end == content.count) + content[start..<end]
    }
    let sum = unsafe content.withUnsafeBytes { unsafe ZstdChecksum.value($0) }
    return frame + RawFrame.checksum(xxh64: UInt64(sum))
  }
}
