internal import ArchiveFormat
internal import ArchiveIO

/// What of an archive is lost.
struct SalvageLoss: Sendable {
  /// The member, if it is known.
  var path: [UInt8]?
  var reason: String
  /// Index and tar header say different things of the member.
  var isMismatch = false
}

/// Gives out those members of an archive of ours that are whole, as one tar stream. One thread.
///
/// Pages say where their chunks lie, relative to themselves, and what these hash to; so every page that is left is enough for its own members, whatever
/// has become of the rest of the file. Chunks without a page are read by their tar headers.
final class SalvageSource: TarSource {
  /// Stretches are collected up to this size before they are given out.
  private static let pieceByteCount = 4 << 20

  private let frames: [FoundFrame]
  private let preamble: FoundFrame?
  private let reader: SalvageChunkReader
  private let file: ArchiveFile
  private let pool: SlotPool<StreamSlot>
  private let stop: StopSignal
  private let report: (SalvageLoss) -> Void
  private let codec: PageCodec
  private let check: MemberCheck
  /// Hashes of all pages, if root and directories hold; nil if not.
  private let pageHashes: Set<UInt64>?

  private var frameIndex = 0
  private var queue: [SalvagePage.Stretch] = []
  private var queuedByteCount = 0
  private var current: (page: SalvagePage, offsets: [Int64], next: Int)?
  private var carry: SalvagePage.Carry? = SalvagePage.Carry(stretches: [], byteCount: 0)
  private var gap = GapReader(isInSync: true)
  /// Where what was understood last ends.
  private var coveredEnd: UInt64 = 0
  private var hasGivenEnd = false
  /// The page of the tar's end was found.
  private var hasSeenEnd = false

  private(set) var offset: UInt64 = 0
  let isMarkedAsOurs = false
  let strayOffset: UInt64? = nil
  let unknownIndexOffset: UInt64? = nil

  /// - Parameter report: called for everything that is lost, in the order of the file.
  init(
    _ file: ArchiveFile, frames: [FoundFrame], limits: ReadLimits, pool: SlotPool<StreamSlot>, stop: StopSignal,
    report: @escaping (SalvageLoss) -> Void
  ) throws(ArchiveError) {
    self.file = file
    self.frames = frames
    self.pool = pool
    self.stop = stop
    self.report = report
    preamble = frames.first { $0.kind == .index(.preamble) }
    reader = try SalvageChunkReader(file, limits)
    codec = PageCodec(memoryByteCount: limits.pageMemoryByteCount)
    check = try MemberCheck()
    pageHashes = try Self.pageHashes(file, frames)
  }

  /// What the directories state of pages. A page has no hash of its own: damage in the hashes that it holds would make healthy members seem lost.
  private static func pageHashes(_ file: ArchiveFile, _ frames: [FoundFrame]) throws(ArchiveError) -> Set<UInt64>? {
    guard let last = frames.last(where: { $0.kind == .index(.root) }),
      last.byteCount <= UInt64(IndexLimits.rootFrameByteCount)
    else { return nil }
    let bytes = try file.read(last.offset..<last.end)
    let root: ArchiveRoot
    do throws(FormatError) { root = try ArchiveRoot(decodingFrame: bytes.span) } catch { return nil }
    let wanted = Set(root.directories.map(\.hash))
    var found: Set<UInt64> = []
    var hashes: Set<UInt64> = []
    for frame in frames where frame.kind == .index(.directory) {
      guard frame.byteCount <= UInt64(IndexLimits.directoryByteCount + SkippableFrame.prefixByteCount) else { continue }
      let bytes = try file.read(frame.offset..<frame.end)
      let hash = XXH3.hash64(bytes.span)
      guard wanted.contains(hash) else { continue }
      do throws(FormatError) {
        for page in try PageDirectory(decodingFrame: bytes.span).pages { hashes.insert(page.pageHash) }
        found.insert(hash)
      } catch { continue }
    }
    return found == wanted ? hashes : nil
  }

  func next() throws(ArchiveError) -> StreamSource.Item? {
    while true {
      try stop.check()
      if queuedByteCount >= Self.pieceByteCount { return try give() }
      if current != nil {
        try takeMember()
      } else if try !advance() {
        if !queue.isEmpty { return try give() }
        return try giveEnd()
      }
    }
  }

  // MARK: Finding

  /// Goes on to the next page or to a chunk before it that no page describes; false at the end of the file.
  private func advance() throws(ArchiveError) -> Bool {
    while frameIndex < frames.count {
      let frame = frames[frameIndex]
      guard case .data = frame.kind else {
        if frame.kind == .index(.page), let (index, page) = try nextPage(), index == frameIndex {
          frameIndex += 1
          try begin(page)
          return true
        }
        frameIndex += 1
        continue
      }
      // Chunks of a page that holds come before it.
      if let (index, page) = try nextPage(), page.start <= frame.offset {
        frameIndex = index + 1
        try begin(page)
        return true
      }
      frameIndex += 1
      try takeGap(frame)
      return true
    }
    gap.interrupt { report(SalvageLoss(path: $0, reason: $1)) }
    return false
  }

  /// What nobody can name: members before what was found first, and behind what was found last.
  private func reportEnds() {
    if preamble == nil {
      report(
        SalvageLoss(
          path: nil, reason: "the beginning of the archive, or what marks it, is missing: what it held is not known"))
    }
    if !hasSeenEnd, !gap.isAtEnd {
      report(SalvageLoss(path: nil, reason: "the end of the archive is missing: what it held is not known"))
    }
  }

  /// The next page that can be read, from here on.
  private var upcoming: (from: Int, found: (index: Int, page: SalvagePage)?)?

  private func nextPage() throws(ArchiveError) -> (index: Int, page: SalvagePage)? {
    if let upcoming, upcoming.from <= frameIndex, upcoming.found.map({ $0.index >= frameIndex }) ?? true {
      return upcoming.found
    }
    var found: (index: Int, page: SalvagePage)?
    for index in frameIndex..<frames.count where frames[index].kind == .index(.page) {
      if let page = try page(in: frames[index]) {
        found = (index, page)
        break
      }
    }
    upcoming = (frameIndex, found)
    return found
  }

  private func page(in frame: FoundFrame) throws(ArchiveError) -> SalvagePage? {
    guard frame.byteCount <= UInt64(min(IndexLimits.pageFrameByteCount, codec.memoryByteCount)) else { return nil }
    let bytes = try file.read(frame.offset..<frame.end)
    if let pageHashes, !pageHashes.contains(XXH3.hash64(bytes.span)) {
      report(
        SalvageLoss(
          path: nil, reason: "the index page at offset \(frame.offset) does not have the hash that the directory states"
        ))
      return nil
    }
    let page: IndexPage
    do throws(ArchiveError) { page = try codec.decode(bytes.span) } catch {
      report(SalvageLoss(path: nil, reason: "the index page at offset \(frame.offset): \(error.message)"))
      return nil
    }
    // Behind one archive there may be another, with a preamble of its own.
    let own = frames.last { $0.kind == .index(.preamble) && $0.offset < frame.offset && $0.offset >= coveredEnd }
    return try SalvagePage(page, frame: frame, preamble: own, notBefore: coveredEnd, reader: reader)
  }

  // MARK: Members

  private func begin(_ page: SalvagePage) throws(ArchiveError) {
    gap.interrupt { report(SalvageLoss(path: $0, reason: $1)) }
    // A page may claim what another one has claimed already.
    let isNext = page.start == coveredEnd || (page.start > coveredEnd && isOnlyPreamble(coveredEnd..<page.start))
    if !isNext { carry = nil }
    current = (page, page.page.headerOffsets, 0)
  }

  /// Whether nothing but the preamble lies between.
  private func isOnlyPreamble(_ range: Range<UInt64>) -> Bool {
    frames.contains {
      $0.kind == .index(.preamble) && $0.offset == range.lowerBound && $0.end == range.upperBound
    }
  }

  private func takeMember() throws(ArchiveError) {
    guard let (page, offsets, index) = current else { return }
    guard index < page.page.members.count else {
      carry = page.carry(after: carry)
      if page.page.isEnd { hasSeenEnd = true }
      coveredEnd = page.end
      offset = page.end
      current = nil
      gap = GapReader(isInSync: carry?.byteCount == 0)
      return
    }
    current?.next = index + 1
    let record = page.page.members[index]
    let path = record.member.path
    let range = offsets[index]..<offsets[index] + Int64(clamping: record.tarByteCount)
    if record.isIncomplete {
      return report(SalvageLoss(path: path, reason: "was not whole when the archive was made"))
    }
    let (own, damaged) = page.stretches(max(0, range.lowerBound)..<range.upperBound)
    guard var stretches = own else {
      let place = damaged.map { "the chunk at offset \($0.offset) is damaged" } ?? "its chunk is damaged"
      return report(SalvageLoss(path: path, reason: place))
    }
    if range.lowerBound < 0 {
      guard let carry, carry.byteCount == UInt64(-range.lowerBound) else {
        return report(SalvageLoss(path: path, reason: "its beginning is lost"))
      }
      stretches = carry.stretches + stretches
    }
    do throws(ArchiveError) { try compare(record, stretches) } catch {
      guard [.mismatch, .damaged, .rejected, .truncated, .unsupported, .limitExceeded].contains(error.code) else {
        throw error
      }
      return report(SalvageLoss(path: path, reason: error.message, isMismatch: error.code == .mismatch))
    }
    for stretch in stretches { enqueue(stretch) }
  }

  /// The two witnesses: the header is compared with the record, and the content with its hash.
  private func compare(_ record: IndexedMember, _ stretches: [SalvagePage.Stretch]) throws(ArchiveError) {
    let spanning = stretches.count > 1 ? try SpanningMember(record) : nil
    var position: UInt64 = 0
    for (index, stretch) in stretches.enumerated() {
      try stop.check()
      guard let content = try reader.content(of: stretch.chunk) else {
        throw ArchiveError(.damaged, "the chunk at offset \(stretch.chunk.offset) does not decode")
      }
      /// Where a part of the member lies in the chunk's content.
      func clamp(_ offset: UInt64) -> Int {
        let inside = min(max(offset, position) - position, UInt64(stretch.range.count))
        return stretch.range.lowerBound + Int(inside)
      }
      let (header, end) = (record.headerByteCount, record.headerByteCount + record.dataByteCount)
      let part = MemberPart<Void>(
        member: record, headerRange: clamp(0)..<clamp(header), dataRange: clamp(header)..<clamp(end),
        dataOffset: max(position, header) - header, spanning: spanning, index: index, action: (),
        endsMember: index == stretches.count - 1)
      try unsafe content.span.withUnsafeBytes { bytes throws(ArchiveError) in
        if let spanning {
          try unsafe spanning.take(part, in: bytes, stop: stop)
        } else {
          try unsafe check.check(part, in: bytes, tarOffset: 0)
        }
      }
      position += UInt64(stretch.range.count)
    }
  }

  private func takeGap(_ frame: FoundFrame) throws(ArchiveError) {
    guard case .data(let stated) = frame.kind else { return }
    let chunk = SalvageChunk(
      offset: frame.offset, storedByteCount: frame.byteCount, contentByteCount: stated ?? .max)
    guard let content = try reader.content(of: chunk) else {
      gap.interrupt { report(SalvageLoss(path: $0, reason: $1)) }
      return report(
        SalvageLoss(path: nil, reason: "the chunk at offset \(frame.offset) is damaged, and so is the index about it"))
    }
    if frame.offset != coveredEnd, !isOnlyPreamble(coveredEnd..<max(coveredEnd, frame.offset)) {
      gap.interrupt { report(SalvageLoss(path: $0, reason: $1)) }
    }
    gap.take(
      content, of: chunk, member: { stretches in for stretch in stretches { enqueue(stretch) } },
      lost: { report(SalvageLoss(path: $0, reason: $1)) })
    coveredEnd = frame.end
    offset = frame.end
    carry = nil
  }

  // MARK: Giving out

  private func enqueue(_ stretch: SalvagePage.Stretch) {
    queuedByteCount += stretch.range.count
    if let last = queue.last, last.chunk == stretch.chunk, last.range.upperBound == stretch.range.lowerBound {
      queue[queue.count - 1].range = last.range.lowerBound..<stretch.range.upperBound
    } else {
      queue.append(stretch)
    }
  }

  private func give() throws(ArchiveError) -> StreamSource.Item {
    let slot = try pool.acquire()
    var used = 0
    do throws(ArchiveError) {
      while let stretch = queue.first, used < slot.content.byteCount {
        guard let content = try reader.content(of: stretch.chunk) else {
          throw ArchiveError(.damaged, "the file changes while it is read", offset: stretch.chunk.offset)
        }
        let count = min(stretch.range.count, slot.content.byteCount - used)
        unsafe content.withUnsafeBytes { bytes in
          unsafe (slot.content.base + used).copyMemory(
            from: bytes.baseAddress! + stretch.range.lowerBound, byteCount: count)
        }
        used += count
        queuedByteCount -= count
        if count == stretch.range.count {
          queue.removeFirst()
        } else {
          queue[0].range = stretch.range.lowerBound + count..<stretch.range.upperBound
        }
      }
    } catch {
      pool.release(slot)
      throw error
    }
    return .content(StreamPiece(slot: slot, byteCount: used, frame: nil, archiveOffset: offset))
  }

  private func giveEnd() throws(ArchiveError) -> StreamSource.Item? {
    if hasGivenEnd { return nil }
    hasGivenEnd = true
    reportEnds()
    let slot = try pool.acquire()
    unsafe slot.content.base.initializeMemory(as: UInt8.self, repeating: 0, count: TarTrailer.byteCount)
    return .content(StreamPiece(slot: slot, byteCount: TarTrailer.byteCount, frame: nil, archiveOffset: offset))
  }
}
