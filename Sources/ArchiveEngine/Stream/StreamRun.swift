internal import ArchiveFormat
internal import ArchiveIO

/// Takes what a stream brings, in archive order, on the control thread.
protocol StreamVisitor: AnyObject {
  /// A member begins. `fits`: all its data are in this piece.
  func begin(_ member: ParsedMember, fits: Bool, offset: UInt64) throws(ArchiveError)
  /// Stored data of the member that began last.
  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) throws(ArchiveError)
  /// The member has ended.
  func end(_ member: ParsedMember) throws(ArchiveError)
  /// An entry that the parser refuses.
  func reject(_ member: RejectedMember) throws(ArchiveError)
  /// The index says that these members, which have ended, are incomplete.
  func markIncomplete(_ paths: [[UInt8]]) throws(ArchiveError)
  /// Nothing of the piece is needed any more by the run; the visitor gives the slot back, now or later.
  func finish(_ piece: StreamPiece) throws(ArchiveError)
}

/// Where stretches of tar come from. One thread.
protocol TarSource: AnyObject {
  /// The next item; nil at the end of the archive.
  func next() throws(ArchiveError) -> StreamSource.Item?
  /// Offset in the archive of the first byte that was not read yet.
  var offset: UInt64 { get }
  /// The archive was written here, so it has an index unless it was cut.
  var isMarkedAsOurs: Bool { get }
  /// Where bytes lie that begin no frame, right behind one.
  var strayOffset: UInt64? { get }
  /// Where an index of another version was seen.
  var unknownIndexOffset: UInt64? { get }
}

extension StreamSource: TarSource {}

/// Reads a stream from its first to its last byte and lets a visitor see the members. One thread.
final class StreamRun {
  private let source: any TarSource
  private let visitor: any StreamVisitor
  private let warn: ([UInt8], String) -> Void
  private var parser: TarParser
  private(set) var index: StreamIndexCheck
  /// The member whose data are being read, and how much of them is left.
  private var current: (member: ParsedMember, dataLeft: UInt64, paddingLeft: UInt64)?
  private(set) var memberCount: UInt64 = 0
  private(set) var contentByteCount: UInt64 = 0
  private(set) var fileCount: UInt64 = 0
  private(set) var tarByteCount: UInt64 = 0
  private(set) var frameCount: UInt64 = 0
  /// Bytes of the archive that were read.
  var archiveByteCount: UInt64 { source.offset }
  /// Hashes what belongs to members while an index may follow that says what it has to be; nil for who relies on the index.
  private let hash: RunningHash128?
  private let note: ([UInt8], String) -> Void
  private var hasNotedAbsoluteNames = false
  /// Told of the manifest at the archive's front.
  var onManifest: ([(key: String, value: String)]) -> Void = { _ in }
  /// The end blocks of the tar stream have come.
  private var hasSeenEnd = false

  init(
    _ source: any TarSource, visitor: any StreamVisitor, limits: ReadLimits, isLenient: Bool, checksHashes: Bool,
    warn: @escaping ([UInt8], String) -> Void, note: @escaping ([UInt8], String) -> Void
  ) throws(ArchiveError) {
    self.note = note
    self.source = source
    self.visitor = visitor
    self.warn = warn
    hash = checksHashes ? try RunningHash128() : nil
    parser = TarParser(isLenient: isLenient)
    index = StreamIndexCheck(knowsHashes: checksHashes, pageMemoryByteCount: limits.pageMemoryByteCount)
  }

  /// Runs to the end.
  func run() throws(ArchiveError) {
    do throws(ArchiveError) {
      while let item = try next() {
        switch item {
        case .content(let piece): try take(piece)
        case .index(let kind, let frame, let offset):
          let incomplete = try index.add(kind, frame, offset: offset)
          if kind == .preamble { onManifest(index.manifest) }
          if !incomplete.isEmpty { try visitor.markIncomplete(incomplete) }
        case .seekTable(let frame, let offset): try index.add(seekTable: frame, offset: offset)
        }
      }
      try end()
    } catch {
      // The first member that is lost is what a person wants to know.
      if let current, error.path.isEmpty, error.code != .cancelled {
        throw ArchiveError(
          error.code,
          "\(error.message); \"\(PathText.printable(current.member.member.path))\" is the first member lost",
          offset: error.offset, systemErrorNumber: error.systemErrorNumber)
      }
      throw error
    }
  }

  /// The next item. What begins no frame is the end, if the archive is complete without it: tapes and downloads add such bytes.
  private func next() throws(ArchiveError) -> StreamSource.Item? {
    do throws(ArchiveError) { return try source.next() } catch {
      guard let offset = source.strayOffset, error.offset == offset, hasSeenEnd else { throw error }
      guard !isOurs || (index.isComplete && index.seekTable == nil) else { throw error }
      warn([], "data after the end of the archive, at offset \(offset), is ignored")
      return nil
    }
  }

  private var isOurs: Bool { index.isOurs || (source.isMarkedAsOurs && source.unknownIndexOffset == nil) }

  private func take(_ piece: StreamPiece) throws(ArchiveError) {
    let bytes = unsafe UnsafeBufferPointer<UInt8>(
      start: piece.slot.content.base.assumingMemoryBound(to: UInt8.self), count: piece.byteCount)
    var position = 0
    var failure: ArchiveError?
    do throws(ArchiveError) {
      if tarByteCount == 0, piece.byteCount >= FileSignature.byteCount,
        let advice = unsafe FileSignature.identify(bytes.span).adviceAboutContent
      {
        throw ArchiveError(.unsupported, "what is compressed is no tar archive: \(advice)", offset: 0)
      }
      while position < piece.byteCount {
        if let skipped = takeSkipped(piece.byteCount - position) {
          position += skipped
          continue
        }
        if current != nil {
          position += try takeData(piece, at: position)
          continue
        }
        let before = position
        let result: (consumed: Int, event: TarParser.Event?)
        do throws(FormatError) { result = try unsafe parser.consume(bytes.span, in: position..<piece.byteCount) } catch
        {
          let found = ArchiveError(error).withTarOffset(near: piece.archiveOffset)
          guard memberCount == 0, error.offset == 0, piece.archiveOffset == 0 else { throw found }
          throw ArchiveError(found.code, "is no tar archive: \(found.message)", offset: found.offset)
        }
        position += result.consumed
        switch result.event {
        case .member(let member): try begin(member, piece, room: piece.byteCount - position)
        case .rejected(let rejected):
          try visitor.reject(rejected)
          skipping = rejected.paddedDataByteCount
        case .endOfArchive: hasSeenEnd = true
        case nil:
          if result.consumed == 0 && before == position {
            throw ArchiveError(.damaged, "the tar reader does not go on")
          }
        }
      }
      if let frame = piece.frame {
        frameCount += 1
        try index.add(frame)
      }
      tarByteCount += UInt64(piece.byteCount)
      index.hasRead(tarByteCount: tarByteCount)
    } catch { failure = error }
    // What was complete before a fault is still made.
    do throws(ArchiveError) { try visitor.finish(piece) } catch { failure = failure ?? error }
    if let failure { throw failure }
  }

  /// Bytes of a refused member's data that are still to be passed over.
  private var skipping: UInt64 = 0

  private func takeSkipped(_ room: Int) -> Int? {
    guard skipping > 0 else { return nil }
    let count = min(UInt64(room), skipping)
    skipping -= count
    parser.skip(count)
    return Int(count)
  }

  private func begin(_ parsed: ParsedMember, _ piece: StreamPiece, room: Int) throws(ArchiveError) {
    memberCount += 1
    if parsed.member.kind == .file {
      fileCount += 1
      contentByteCount &+= parsed.member.byteCount
    }
    for note in parsed.notes { warn(parsed.member.path, note) }
    if parsed.wasAbsolute, !hasNotedAbsoluteNames {
      hasNotedAbsoluteNames = true
      note(parsed.member.path, "a leading \"/\" is taken off this name and others")
    }
    try visitor.begin(parsed, fits: parsed.paddedDataByteCount <= UInt64(room), offset: piece.archiveOffset)
    current = (parsed, parsed.dataByteCount, parsed.paddedDataByteCount - parsed.dataByteCount)
    if index.isTracking, let hash {
      hash.reset()
      if let extents = parsed.member.sparseExtents {
        let prefix = IndexedMember.sparseHashPrefix(extents: extents, byteCount: parsed.member.byteCount)
        unsafe prefix.withUnsafeBytes { unsafe hash.update($0) }
      }
    }
    if parsed.paddedDataByteCount == 0 { try endMember() }
  }

  private func takeData(_ piece: StreamPiece, at position: Int) throws(ArchiveError) -> Int {
    guard case (let member, var dataLeft, var paddingLeft)? = current else { return 0 }
    let room = UInt64(piece.byteCount - position)
    let data = min(room, dataLeft)
    if data > 0 {
      if index.isTracking, let hash {
        unsafe hash.update(UnsafeRawBufferPointer(start: piece.slot.content.base + position, count: Int(data)))
      }
      try visitor.data(
        position..<position + Int(data), storedOffset: member.dataByteCount - dataLeft, in: piece)
    }
    dataLeft -= data
    let padding = min(room - data, paddingLeft)
    paddingLeft -= padding
    parser.skip(data + padding)
    current = (member, dataLeft, paddingLeft)
    if dataLeft == 0 && paddingLeft == 0 { try endMember() }
    return Int(data + padding)
  }

  private func endMember() throws(ArchiveError) {
    guard let (parsed, _, _) = current else { return }
    current = nil
    try visitor.end(parsed)
    let isHashed = index.isTracking && parsed.member.kind == .file
    try index.add(
      IndexedMember(
        member: parsed.member, headerByteCount: parsed.headerByteCount,
        contentHash: isHashed ? hash?.digest() : nil))
  }

  private func end() throws(ArchiveError) {
    if let current {
      throw ArchiveError(
        .truncated, "the archive ends within the data of \"\(PathText.printable(current.member.member.path))\"",
        offset: source.offset)
    }
    if skipping > 0 {
      throw ArchiveError(.truncated, "the archive ends within the data of a refused member", offset: source.offset)
    }
    let ending: TarParser.Ending
    do throws(FormatError) { ending = try parser.finish() } catch {
      guard tarByteCount >= UInt64(TarLimits.blockByteCount) else {
        throw ArchiveError(.truncated, "holds \(tarByteCount) bytes, which are no tar archive", offset: source.offset)
      }
      throw ArchiveError(error)
    }
    if isOurs && !index.isComplete {
      throw ArchiveError(.truncated, "the archive ends before its index", offset: source.offset)
    }
    if isOurs { try MemberCheck.refuseGlobalRecords(parser, path: []) }
    if index.isOurs && index.seekTable != nil {
      throw ArchiveError(.truncated, "the archive ends before its seek table", offset: source.offset)
    }
    switch ending {
    case .complete: break
    case .empty:
      throw ArchiveError(
        .truncated, "holds no tar archive: not even the end blocks of an empty one", offset: source.offset)
    case .missingEndBlocks: warn([], "the end blocks of the tar archive are missing")
    case .dataAfterEnd: warn([], "data after the end of the tar archive is ignored")
    case .headerWithoutMember: warn([], "an extended header at the end of the tar archive has no member")
    }
    if let offset = source.unknownIndexOffset {
      warn([], "the index at offset \(offset) is of another version; the archive was read as a stream")
    }
  }
}

extension ArchiveError {
  /// Offsets of the parser count in the tar stream: says so, and where in the archive that is.
  func withTarOffset(near archiveOffset: UInt64) -> ArchiveError {
    guard let offset else { return at(offset: archiveOffset) }
    return ArchiveError(
      code, "\(message) (tar offset \(offset))", path: path, offset: archiveOffset, systemErrorNumber: systemErrorNumber
    )
  }
}
