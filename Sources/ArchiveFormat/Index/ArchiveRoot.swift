/// Sums over an archive.
public struct ArchiveTotals: Sendable, Equatable {
  /// Data frames, end frame included.
  public var chunkCount: UInt64 = 0
  /// Pages, end page included.
  public var pageCount: UInt64 = 0
  /// Members of all kinds.
  public var memberCount: UInt64 = 0
  /// Members that are files.
  public var fileCount: UInt64 = 0
  /// Members that are marked incomplete.
  public var incompleteCount: UInt64 = 0
  /// Sum of the files' logical sizes.
  public var contentByteCount: UInt64 = 0
  /// Bytes of the tar stream, end blocks included.
  public var tarByteCount: UInt64 = 0
  /// Stored bytes of all data frames.
  public var dataStoredByteCount: UInt64 = 0
  /// Stored bytes of all page frames.
  public var pagesStoredByteCount: UInt64 = 0

  /// All zero.
  public init() {}

  func append(to out: inout [UInt8]) {
    out.append(varint: chunkCount)
    out.append(varint: pageCount)
    out.append(varint: memberCount)
    out.append(varint: fileCount)
    out.append(varint: incompleteCount)
    out.append(varint: contentByteCount)
    out.append(varint: tarByteCount)
    out.append(varint: dataStoredByteCount)
    out.append(varint: pagesStoredByteCount)
  }

  init(_ bytes: Span<UInt8>, _ cursor: inout IndexCursor) throws(FormatError) {
    chunkCount = try cursor.varint(bytes, "chunk count")
    pageCount = try cursor.varint(bytes, "page count")
    memberCount = try cursor.varint(bytes, "member count")
    fileCount = try cursor.varint(bytes, "file count")
    incompleteCount = try cursor.varint(bytes, "count of incomplete members")
    contentByteCount = try cursor.varint(bytes, "content size")
    tarByteCount = try cursor.varint(bytes, "tar size")
    dataStoredByteCount = try cursor.varint(bytes, "data frame bytes")
    pagesStoredByteCount = try cursor.varint(bytes, "page frame bytes")
  }

  func validate() throws(FormatError) {
    let limited = [chunkCount, pageCount, memberCount, tarByteCount, dataStoredByteCount, pagesStoredByteCount]
    guard limited.allSatisfy({ $0 <= IndexLimits.totalCount }), contentByteCount <= UInt64(Int64.max) else {
      throw FormatError(.limitExceeded, "archive totals")
    }
    guard pageCount >= 1, chunkCount >= pageCount, fileCount <= memberCount, incompleteCount <= fileCount else {
      throw FormatError(.malformed, "archive totals that contradict each other")
    }
  }
}

/// Size and hash of a directory frame as stored.
public struct DirectoryReference: Sendable, Equatable {
  /// Bytes of the whole directory frame.
  public var storedByteCount: UInt32
  /// XXH3-64 of the whole directory frame.
  public var hash: UInt64

  /// A reference to a frame.
  public init(storedByteCount: UInt32, hash: UInt64) {
    self.storedByteCount = storedByteCount
    self.hash = hash
  }
}

/// The frame from which everything else in the archive is found and checked.
public struct ArchiveRoot: Sendable, Equatable {
  /// Settings of the archive.
  public var settings: ArchiveSettings
  /// The manifest that was known at the start.
  public var opening: Manifest
  /// The manifest that was known at the end only.
  public var closing: Manifest
  /// Sums over all pages.
  public var totals: ArchiveTotals
  /// The directory frames, in order; they lie directly before the root.
  public var directories: [DirectoryReference]

  /// A root; ``encodedFrame()`` checks it.
  public init(
    settings: ArchiveSettings, opening: Manifest, closing: Manifest, totals: ArchiveTotals,
    directories: [DirectoryReference]
  ) {
    self.settings = settings
    self.opening = opening
    self.closing = closing
    self.totals = totals
    self.directories = directories
  }

  /// The preamble that belongs to this root.
  public var preamble: Preamble { Preamble(settings: settings, opening: opening) }

  /// Bytes of the footer that ends a root frame: size of the frame and a signature.
  public static let footerByteCount = 12
  /// The last 8 bytes of a root frame: "STIXROOT".
  static let footerSignature: [UInt8] = [0x53, 0x54, 0x49, 0x58, 0x52, 0x4F, 0x4F, 0x54]
  /// Bytes of digest and footer.
  private static let tailByteCount = 28

  /// Where the first directory frame begins in the archive; the root follows the last.
  public var directoriesOffset: UInt64 {
    get throws(FormatError) {
      UInt64(try preamble.encodedFrame().count) + totals.dataStoredByteCount + totals.pagesStoredByteCount
    }
  }

  /// Where the root frame begins in the archive.
  public var rootOffset: UInt64 {
    get throws(FormatError) { directories.reduce(try directoriesOffset) { $0 + UInt64($1.storedByteCount) } }
  }

  /// The whole skippable frame, canonical.
  ///
  /// - Throws: `limitExceeded`, `malformed` for values that the format does not allow.
  public func encodedFrame() throws(FormatError) -> [UInt8] {
    let preambleByteCount = try preamble.encodedFrame().count
    try validate()
    var body: [UInt8] = []
    try settings.append(to: &body)
    opening.append(to: &body)
    closing.append(to: &body)
    totals.append(to: &body)
    body.append(varint: UInt64(preambleByteCount))
    body.append(varint: UInt64(directories.count))
    for directory in directories { body.append(varint: UInt64(directory.storedByteCount)) }
    for directory in directories { body.append(littleEndian: directory.hash) }
    let count = SkippableFrame.prefixByteCount + body.count + Self.tailByteCount
    guard count <= IndexLimits.rootFrameByteCount else {
      throw FormatError(.limitExceeded, "root of \(count) bytes")
    }
    var frame = try SkippableFrame.prefix(.root, bodyByteCount: body.count + Self.tailByteCount)
    frame.append(contentsOf: body)
    let digest = XXH3.hash128(frame.span)
    frame.append(littleEndian: digest.high.byteSwapped)
    frame.append(littleEndian: digest.low.byteSwapped)
    frame.append(littleEndian: UInt32(count))
    frame.append(contentsOf: Self.footerSignature)
    return frame
  }

  /// The archive digest in an encoded root frame: XXH3-128 over the whole frame before it. It covers all:
  /// root, directory frames by their hashes, pages by theirs, data frames by theirs.
  public static func digest(ofFrame frame: Span<UInt8>) throws(FormatError) -> Hash128 {
    guard frame.count >= SkippableFrame.prefixByteCount + tailByteCount else {
      throw FormatError(.truncated, "root frame of \(frame.count) bytes")
    }
    var cursor = IndexCursor((frame.count - tailByteCount)..<frame.count)
    let high = try cursor.littleEndian(frame, as: UInt64.self).byteSwapped
    return Hash128(high: high, low: try cursor.littleEndian(frame, as: UInt64.self).byteSwapped)
  }

  /// Reads a whole frame and checks its digest.
  ///
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported`, `mismatch` (digest), offsets in the frame.
  public init(decodingFrame frame: Span<UInt8>) throws(FormatError) {
    guard frame.count <= IndexLimits.rootFrameByteCount else {
      throw FormatError(.limitExceeded, "root frame of \(frame.count) bytes")
    }
    let range = try SkippableFrame.parse(.root, frame)
    let stated = try Self.digest(ofFrame: frame)
    let bodyEnd = frame.count - Self.tailByteCount
    let actual = XXH3.hash128(frame.extracting(0..<bodyEnd))
    guard actual == stated else {
      throw FormatError(
        .mismatch, "archive digest is \(actual.hexadecimal), stated \(stated.hexadecimal)", offset: UInt64(bodyEnd))
    }
    guard
      Self.frameByteCount(footer: frame.extracting((frame.count - Self.footerByteCount)..<frame.count)) == frame.count
    else { throw FormatError(.malformed, "root frame with a wrong footer", offset: UInt64(frame.count - 12)) }
    var cursor = IndexCursor(range.lowerBound..<bodyEnd)
    settings = try ArchiveSettings(frame, &cursor)
    opening = try Manifest(frame, &cursor)
    closing = try Manifest(frame, &cursor)
    totals = try ArchiveTotals(frame, &cursor)
    directories = []
    let preambleByteCount = try cursor.varint(frame, "preamble size")
    let count = try cursor.count(frame, upTo: IndexLimits.directoryCount, minimumByteCount: 9, "directories")
    directories.reserveCapacity(count)
    let most = UInt64(IndexLimits.directoryByteCount + SkippableFrame.prefixByteCount)
    for _ in 0..<count {
      let stored = UInt32(try cursor.varint(frame, upTo: most, "directory size"))
      directories.append(DirectoryReference(storedByteCount: stored, hash: 0))
    }
    for index in directories.indices { directories[index].hash = try cursor.littleEndian(frame, as: UInt64.self) }
    try cursor.finish()
    try validate()
    guard UInt64(try preamble.encodedFrame().count) == preambleByteCount else {
      throw cursor.failure(.malformed, "preamble of \(preambleByteCount) bytes does not fit its values")
    }
  }

  private func validate() throws(FormatError) {
    let manifest = try opening.checkedByteCount() + closing.checkedByteCount()
    guard manifest <= IndexLimits.manifestByteCount else {
      throw FormatError(.limitExceeded, "manifests of \(manifest) bytes")
    }
    guard (1...IndexLimits.directoryCount).contains(directories.count) else {
      throw FormatError(.limitExceeded, "\(directories.count) directory frames")
    }
    try totals.validate()
  }

  /// Size of the root frame that ends with these 12 bytes (the end of a file without seek table, or what lies
  /// before the seek table); nil when they are no footer.
  public static func frameByteCount(footer: Span<UInt8>) -> Int? {
    guard footer.count == footerByteCount else { return nil }
    for index in footerSignature.indices where footer[4 + index] != footerSignature[index] { return nil }
    let count = (0..<4).reversed().reduce(0) { $0 << 8 | Int(footer[$1]) }
    let least = SkippableFrame.prefixByteCount + tailByteCount
    return (least...IndexLimits.rootFrameByteCount).contains(count) ? count : nil
  }

  /// Looks backwards for the footer of a root, for files whose seek table is damaged or missing.
  ///
  /// - Returns: where in `tail` the root frame ends, and its size.
  public static func findFooter(in tail: Span<UInt8>) -> (end: Int, frameByteCount: Int)? {
    var end = tail.count
    while end >= footerByteCount {
      if let count = frameByteCount(footer: tail.extracting((end - footerByteCount)..<end)) { return (end, count) }
      end -= 1
    }
    return nil
  }
}
