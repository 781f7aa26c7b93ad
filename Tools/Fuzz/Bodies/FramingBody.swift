internal import ArchiveFormat
internal import CZstd

/// The outside of zstd frames, compared with what libzstd says of the same bytes.
enum FramingBody {
  /// Content up to this size is really decoded.
  private static let decodedByteCount = 1 << 20

  static func run(_ input: [UInt8]) throws(FuzzFailure) {
    var choices = Choices(input)
    let how = choices.byte()
    let seed = choices.byte()
    var bytes = choices.rest()
    if how & 1 != 0 { bytes = [0x28, 0xB5, 0x2F, 0xFD] + bytes }
    if how & 2 != 0 { try checkRawFrame(bytes) }
    _ = FileSignature.identify(bytes.span)
    try checkStart(bytes)
    var position = 0
    for _ in 0..<64 where position < bytes.count {
      guard let byteCount = try checkFrame(Array(bytes[position...]), seed: seed) else { return }
      position += byteCount
    }
  }

  /// A header is understood from exactly as many bytes as it has, and as libzstd understands it.
  private static func checkStart(_ bytes: [UInt8]) throws(FuzzFailure) {
    let start = accepted { () throws(FormatError) in try ZstdFraming.parseStart(bytes.span) } ?? nil
    var theirs = ZSTD_frameHeader()
    let result = unsafe bytes.withUnsafeBytes { unsafe ZSTD_getFrameHeader(&theirs, $0.baseAddress, $0.count) }
    guard let start else {
      // libzstd wants more bytes or refuses too.
      return try require(result != 0 || bytes.isEmpty, "libzstd reads a header that is not read here")
    }
    for count in 0..<start.headerByteCount {
      let less = Array(bytes.prefix(count))
      let early = accepted { () throws(FormatError) in try ZstdFraming.parseStart(less.span) } ?? nil
      try require(early == nil, "a header of \(start.headerByteCount) bytes is read from \(count)")
    }
    // libzstd refuses windows that it does not decode.
    guard result == 0, case .data(let header) = start else { return }
    try require(theirs.headerSize == UInt32(header.headerByteCount), "a header of other size")
    try require(theirs.windowSize == header.windowByteCount, "a window of other size")
    try require(theirs.dictID == header.dictionaryID ?? 0, "another dictionary")
    try require(theirs.checksumFlag == (header.hasChecksum ? 1 : 0), "another checksum flag")
    // For libzstd the largest number says that the size is not known.
    try require(theirs.frameContentSize == header.contentByteCount ?? .max, "a content of other size")
  }

  /// Bytes of the frame that begins here; nil when there is none, or no whole one.
  private static func checkFrame(_ bytes: [UInt8], seed: UInt8) throws(FuzzFailure) -> Int? {
    let whole = walk(bytes, nil)
    let inPieces = walk(bytes, PieceSizes(seed: seed))
    try require(whole == inPieces, "one piece gives \(whole), many give \(inPieces)")
    let theirs = unsafe bytes.withUnsafeBytes { unsafe ZSTD_findFrameCompressedSize($0.baseAddress, $0.count) }
    let isTheirs = ZSTD_isError(theirs) == 0
    guard whole.isComplete else {
      guard isTheirs, !isBeforeVersion1(bytes), !isLongRun(bytes, whole.error),
        decodes(Array(bytes.prefix(theirs))) != nil
      else { return nil }
      throw FuzzFailure("libzstd decodes a frame of \(theirs) bytes that is none here: \(whole)")
    }
    if isTheirs {
      try require(theirs == whole.byteCount, "a frame of \(whole.byteCount) bytes, libzstd says \(theirs)")
    }
    if case .data(let header)? = whole.header, let content = decodes(Array(bytes.prefix(whole.byteCount))) {
      try require(header.contentByteCount ?? UInt64(content) == content, "a content of other size")
    }
    return whole.byteCount
  }

  /// A frame of a format before the first stable one, which a libzstd with legacy support decodes.
  private static func isBeforeVersion1(_ bytes: [UInt8]) -> Bool {
    bytes.dropFirst().starts(with: [0xB5, 0x2F, 0xFD]) && bytes[0] != 0x28
  }

  /// The fault is a run of more bytes than a block may have (RFC 8878, section 3.1.1.2.4): libzstd decodes that.
  private static func isLongRun(_ bytes: [UInt8], _ fault: FormatError?) -> Bool {
    guard let offset = fault?.offset.flatMap({ Int(exactly: $0) }), offset + 3 <= bytes.count else { return false }
    let value = (0..<3).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    return value >> 1 & 3 == 1 && value >> 3 > RawFrame.blockByteCount
  }

  private struct Walk: Equatable {
    var header: ZstdFraming.FrameStart?
    var byteCount = 0
    var isComplete = false
    var hasOnlyRawBlocks = false
    var error: FormatError?
  }

  private static func walk(_ bytes: [UInt8], _ pieces: PieceSizes?) -> Walk {
    var pieces = pieces
    var walker = ZstdFrameWalker()
    var position = 0
    var error: FormatError?
    while position < bytes.count, !walker.isComplete, error == nil {
      let end = min(bytes.count, position + (pieces?.next() ?? bytes.count))
      do throws(FormatError) { position += try walker.consume(bytes.span, in: position..<end).consumed } catch let fault
      {
        error = fault
      }
    }
    return Walk(
      header: walker.header, byteCount: error == nil ? position : 0, isComplete: walker.isComplete,
      hasOnlyRawBlocks: walker.hasOnlyRawBlocks, error: error)
  }

  /// How much a frame decodes to; nil when it does not, or to too much.
  private static func decodes(_ frame: [UInt8]) -> Int? {
    let target = UnsafeMutableRawBufferPointer.allocate(byteCount: decodedByteCount, alignment: 16)
    defer { unsafe target.deallocate() }
    let result = unsafe frame.withUnsafeBytes {
      unsafe ZSTD_decompress(target.baseAddress, target.count, $0.baseAddress, $0.count)
    }
    return ZSTD_isError(result) == 0 ? result : nil
  }

  /// A frame of raw blocks around these bytes is decoded to them.
  private static func checkRawFrame(_ content: [UInt8]) throws(FuzzFailure) {
    var frame = RawFrame.frameHeader(contentByteCount: content.count)
    frame += RawFrame.blockHeader(byteCount: content.count, isLast: true) + content
    guard content.count <= RawFrame.blockByteCount else { return }
    // Without the checksum's four bytes the frame must not count as whole.
    try require(!walk(frame, nil).isComplete, "a frame without its checksum is whole")
    frame += [0, 0, 0, 0]
    let walk = walk(frame, nil)
    try require(walk.isComplete && walk.hasOnlyRawBlocks && walk.byteCount == frame.count, "a raw frame is \(walk)")
    try require(frame.count == RawFrame.frameByteCount(contentByteCount: content.count), "another length")
  }
}
