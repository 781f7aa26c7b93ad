internal import ArchiveFormat

/// Compares the index frames that come by in a stream with the frames and members that came before them. One thread.
///
/// Nothing is kept beyond a page: the stream's own records are compared and forgotten when their page arrives. A stream that never brings one takes
/// no more memory than one that does: whole members are kept up to a budget, of more only hashes.
struct StreamIndexCheck {
  private let codec: PageCodec
  private var accumulator: IndexAccumulator?
  private var chunks: [ChunkRecord] = []
  private var members: [MemberWitness] = []
  /// Bytes that whole members may still take until the next page.
  private var budget = Self.wholeMemberByteCount
  private static let wholeMemberByteCount = 8 << 20
  /// Whether the content hashes of ``members`` are known.
  private let knowsHashes: Bool
  /// Hashes of the directory frames; the root comes behind them.
  private var tailHashes: [Hash128] = []
  private var root: ArchiveRoot?
  /// What comes by may still turn out to be an archive of ours.
  private(set) var isTracking = true

  /// The archive is ours: its preamble was seen.
  var isOurs: Bool { accumulator != nil || root != nil }
  /// The index was seen whole.
  var isComplete: Bool { root != nil }
  /// The root's own statement, once seen.
  private(set) var digest: String?
  private(set) var manifest: [(key: String, value: String)] = []
  private(set) var settings: ArchiveSettings?

  /// - Parameter pageMemoryByteCount: see ``PageCodec``.
  init(knowsHashes: Bool, pageMemoryByteCount: Int) {
    self.knowsHashes = knowsHashes
    codec = PageCodec(memoryByteCount: pageMemoryByteCount)
  }

  /// A data frame has been read.
  mutating func add(_ frame: StreamFrame) throws(ArchiveError) {
    guard root == nil, isTracking else { return }
    // The preamble follows the first frame: an archive without it there is not ours, and nothing is remembered.
    if accumulator == nil && !chunks.isEmpty { return forget() }
    chunks.append(frame.record)
    guard chunks.count <= IndexLimits.pageChunkCount else {
      throw ArchiveError(.mismatch, "more chunks without an index page than a page can hold", offset: frame.offset)
    }
  }

  /// A member has ended.
  mutating func add(_ member: IndexedMember) throws(ArchiveError) {
    guard isTracking else { return }
    // Our first chunk holds at most 12 MiB of tar, so at most 24,576 headers.
    if accumulator == nil, members.count >= 24_576 { return forget() }
    members.append(MemberWitness(member, budget: &budget))
    if members.count > IndexLimits.pageMemberCount {
      throw ArchiveError(.mismatch, "more members without an index page than a page can hold", path: member.member.path)
    }
  }

  /// So much of the tar stream has been read. An archive whose first frame holds more than any chunk of ours is not ours.
  mutating func hasRead(tarByteCount: UInt64) {
    if accumulator == nil, isTracking, tarByteCount > UInt64(IndexLimits.chunkContentByteCount) { forget() }
  }

  private mutating func forget() {
    isTracking = false
    forgetPage()
  }

  private mutating func forgetPage() {
    chunks = []
    members = []
    budget = Self.wholeMemberByteCount
  }

  /// An index frame has been read.
  ///
  /// - Returns: paths of members that the page marks incomplete.
  mutating func add(_ kind: IndexFrameKind, _ frame: [UInt8], offset: UInt64) throws(ArchiveError) -> [[UInt8]] {
    do throws(ArchiveError) {
      switch kind {
      case .preamble: try addPreamble(frame)
      case .page: return try addPage(frame)
      case .directory, .root: try addTail(kind, frame)
      }
      return []
    } catch {
      // Offsets of the format count in the frame or in what it decodes to.
      throw ArchiveError(
        error.code, error.message, path: error.path, offset: offset, systemErrorNumber: error.systemErrorNumber)
    }
  }

  private mutating func addPreamble(_ frame: [UInt8]) throws(ArchiveError) {
    guard !isOurs else { throw ArchiveError(.mismatch, "a second index begins here: two archives in one stream") }
    guard isTracking, chunks.count == 1 else {
      throw ArchiveError(.mismatch, "an index begins behind other frames than its first")
    }
    let preamble = try format { () throws(FormatError) in try Preamble(decodingFrame: frame.span) }
    settings = preamble.settings
    manifest = preamble.opening.pairs.map { ($0.key, $0.value) }
    accumulator = try format { () throws(FormatError) in
      try IndexAccumulator(settings: preamble.settings, opening: preamble.opening)
    }
  }

  private mutating func addPage(_ frame: [UInt8]) throws(ArchiveError) -> [[UInt8]] {
    guard accumulator != nil else { throw ArchiveError(.mismatch, "an index page without a preamble before it") }
    let page = try codec.decode(frame.span)
    defer { forgetPage() }
    guard page.chunks.count == chunks.count else {
      throw ArchiveError(.mismatch, "the index page describes \(page.chunks.count) chunks where \(chunks.count) came")
    }
    for (stated, seen) in zip(page.chunks, chunks) where stated != seen {
      throw ArchiveError(
        .mismatch,
        "the index states a \(Self.form(stated)) chunk of \(stated.storedByteCount) bytes with \(stated.contentByteCount) of content and hash \(stated.storedHash.paddedHexadecimal); the stream has a \(Self.form(seen)) one of \(seen.storedByteCount), \(seen.contentByteCount) and \(seen.storedHash.paddedHexadecimal)"
      )
    }
    guard page.members.count == members.count else {
      throw ArchiveError(.mismatch, "the index page lists \(page.members.count) members where \(members.count) came")
    }
    var incomplete: [[UInt8]] = []
    for (stated, seen) in zip(page.members, members) {
      try seen.compare(with: stated, hashes: knowsHashes)
      if stated.isIncomplete { incomplete.append(stated.member.path) }
    }
    let summary = try format { () throws(FormatError) in try PageSummary(page: page, frame: frame.span) }
    do throws(FormatError) { try accumulator?.add(summary) } catch { throw ArchiveError(error) }
    return incomplete
  }

  private mutating func addTail(_ kind: IndexFrameKind, _ frame: [UInt8]) throws(ArchiveError) {
    guard accumulator != nil else { throw ArchiveError(.mismatch, "a second index, or an index without its beginning") }
    tailHashes.append(XXH3.hash128(frame.span))
    guard tailHashes.count <= IndexLimits.directoryCount + 1 else {
      throw ArchiveError(.limitExceeded, "more than \(IndexLimits.directoryCount) directory frames")
    }
    guard kind == .root else { return }
    let stated = try format { () throws(FormatError) in try ArchiveRoot(decodingFrame: frame.span) }
    guard let index = accumulator.take() else { return }
    var matched = 0
    var last: [UInt8]?
    _ = try index.finish(closing: stated.closing, wrap: { ArchiveError($0) }) { frame throws(ArchiveError) in
      if matched == tailHashes.count {
        // Behind the root comes the seek table.
        last = frame
      } else if XXH3.hash128(frame.span) == tailHashes[matched] {
        matched += 1
      } else {
        throw ArchiveError(.mismatch, "directory and root differ from what the pages give")
      }
    }
    guard matched == tailHashes.count else {
      throw ArchiveError(.mismatch, "directory and root differ from what the pages give")
    }
    seekTable = last
    tailHashes = []
    root = stated
    digest = try format { () throws(FormatError) in try ArchiveRoot.digest(ofFrame: frame.span).hexadecimal }
    manifest += stated.closing.pairs.map { ($0.key, $0.value) }
  }

  /// The seek table that has to follow the root; nil once it has, or when there is none.
  private(set) var seekTable: [UInt8]?

  /// A seek table has been read.
  mutating func add(seekTable frame: [UInt8], offset: UInt64) throws(ArchiveError) {
    guard let expected = seekTable else {
      throw ArchiveError(.mismatch, "a seek table that does not belong here", offset: offset)
    }
    guard frame == expected else {
      throw ArchiveError(.mismatch, "the seek table differs from what the frames before it give", offset: offset)
    }
    seekTable = nil
  }

  private static func form(_ chunk: ChunkRecord) -> String { chunk.isStored ? "stored" : "compressed" }
}
