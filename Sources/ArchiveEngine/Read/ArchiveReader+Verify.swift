internal import ArchiveFormat
internal import ArchiveIO

extension ArchiveReader {
  /// Checks the archive: all of it, or (`quick`, with an index only) the hashes of the stored bytes without decompressing.
  ///
  /// Damage does not end the run; the report names it. Quick verification relies on the index for what members there are; full verification compares every
  /// header field, attribute and content hash with the tar stream and recomputes everything outside the data frames.
  public func verify(quick: Bool = false) throws(ArchiveError) -> VerifyReport {
    let stop = begin()
    switch input {
    case .indexed(let archive): return try IndexedVerification(self, archive, stop, isQuick: quick).run()
    case .file(_, let fault?):
      var report = VerifyReport()
      report.add(ArchiveDamage(offset: fault.offset, message: fault.message, members: []))
      if !quick { try verifyStream(into: &report, stop) }
      return report
    case .file, .pipe:
      var report = VerifyReport()
      try verifyStream(into: &report, stop)
      return report
    }
  }

  private func verifyStream(into report: inout VerifyReport, _ stop: StopSignal) throws(ArchiveError) {
    let pool = try makeStreamPool(stop)
    let progress = ProgressCounter { [events] in events.send(.progress($0)) }
    let visitor = VerifyVisitor(limits: limits, pool: pool, progress: progress)
    do throws(ArchiveError) {
      let run = try runStream(visitor, pool: pool, stop: stop)
      report.chunkCount = run.frameCount
      report.digest = run.index.digest
    } catch {
      guard error.isDamage else { throw error }
      report.add(
        ArchiveDamage(offset: error.offset, message: error.message, members: error.path.isEmpty ? [] : [error.path]))
    }
    progress.finish()
    report.entryCount = visitor.memberCount
    report.contentByteCount = visitor.contentByteCount
    report.warningCount = warningCount
  }
}

extension ArchiveError {
  /// The archive is at fault, not the machine or the caller.
  var isDamage: Bool { [.damaged, .truncated, .mismatch, .rejected].contains(code) }
}

extension VerifyReport {
  /// Adds a damage; the list is bounded, the count is not.
  mutating func add(_ damage: ArchiveDamage) {
    if damage.chunk != nil { damagedChunkCount += 1 }
    if damages.count < 1000 { damages.append(damage) }
  }
}

/// Counts what a stream brings.
final class VerifyVisitor: StreamVisitor {
  private var account: LimitAccount
  private let pool: SlotPool<StreamSlot>
  private let progress: ProgressCounter
  private(set) var memberCount: UInt64 = 0
  private(set) var contentByteCount: UInt64 = 0

  init(limits: ReadLimits, pool: SlotPool<StreamSlot>, progress: ProgressCounter) {
    account = LimitAccount(limits)
    self.pool = pool
    self.progress = progress
  }

  func begin(_ parsed: ParsedMember, fits: Bool, offset: UInt64) throws(ArchiveError) {
    try account.add(parsed.member.path, contentByteCount: parsed.member.byteCount, archiveByteCount: nil)
    memberCount += 1
    if parsed.member.kind == .file { contentByteCount.add(clamping: parsed.member.byteCount) }
  }

  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) {
    progress.add(contentByteCount: UInt64(range.count), memberCount: 0)
  }

  func end(_ member: ParsedMember) { progress.add(contentByteCount: 0, memberCount: 1) }

  func reject(_ member: RejectedMember) throws(ArchiveError) {
    throw ArchiveError(
      .rejected, member.reason.message + " (tar offset \(member.headerOffset))", path: member.path)
  }

  func markIncomplete(_ paths: [[UInt8]]) {}
  func finish(_ piece: StreamPiece) { pool.release(piece.slot) }
}

/// Verifies an archive of ours with all lanes.
private struct IndexedVerification {
  private enum Job: Sendable {
    case page(PageAhead.Item)
    case chunk(ChunkTask<Void>, ReadSlot)
  }

  /// What lanes found; sorted at the end, since they come in any order.
  private final class Findings: Sendable {
    let damages = Locked<[ArchiveDamage]>([])

    private let names = Locked<(count: Int, byteCount: Int)>((100_000, 16 << 20))

    /// Adds a damage. Names of members are kept as long as there is room for them: a page of some kilobytes can list 65,536 for one chunk.
    func add(_ damage: ArchiveDamage) {
      var damage = damage
      let all = damage.members.count
      names.withLock { left in
        let kept = damage.members.prefix { path in
          guard left.count > 0, left.byteCount >= path.count else { return false }
          left.count -= 1
          left.byteCount -= path.count
          return true
        }
        if kept.count < all { damage.members = Array(kept) }
      }
      damage.unlistedMemberCount += UInt64(all - damage.members.count)
      damages.withLock { if $0.count < 100_000 { $0.append(damage) } }
    }
  }

  private let reader: ArchiveReader
  private let archive: IndexedArchive
  private let stop: StopSignal
  private let isQuick: Bool
  private let findings = Findings()

  init(_ reader: ArchiveReader, _ archive: IndexedArchive, _ stop: StopSignal, isQuick: Bool) {
    self.reader = reader
    self.archive = archive
    self.stop = stop
    self.isQuick = isQuick
  }

  func run() throws(ArchiveError) -> VerifyReport {
    let pool = try reader.makeChunkPool(archive, stop)
    let progress = ProgressCounter { [events = reader.events] in events.send(.progress($0)) }
    let (archive, findings, stop, isQuick) = (archive, findings, stop, isQuick)
    let lanes = try LanePool<Job>(laneCount: reader.laneCount, label: "archive-verify") { _ throws(ArchiveError) in
      let loader = try ChunkLoader(archive.file)
      let check = try MemberCheck()
      let pages = PageAhead.makeCodec(archive)
      return { job in
        switch job {
        case .page(let item): item.perform(archive, pages, stop: stop)
        case .chunk(let task, let slot):
          if !stop.isSet {
            do throws(ArchiveError) {
              try Self.verify(task, slot, loader, check, stop, isQuick, findings)
            } catch {
              // An unreadable disk or a cancellation is not damage of the archive.
              stop.fail(error)
            }
            Self.count(task, progress)
          }
          pool.release(slot)
        }
      }
    }
    defer { lanes.end() }
    var report = VerifyReport()
    var account = LimitAccount(reader.limits)
    do throws(ArchiveError) {
      try plan(lanes, pool, &account, &report)
    } catch {
      if error.isDamage {
        findings.add(
          ArchiveDamage(offset: error.offset, message: error.message, members: error.path.isEmpty ? [] : [error.path]))
      } else {
        stop.fail(error)
      }
    }
    lanes.wait()
    try stop.check()
    progress.finish()
    let damages = findings.damages.withLock { $0 }
    for damage in damages.sorted(by: { ($0.chunk ?? .max, $0.offset ?? 0) < ($1.chunk ?? .max, $1.offset ?? 0) }) {
      report.add(damage)
    }
    report.damagedChunkCount = UInt64(Set(damages.compactMap(\.chunk)).count)
    report.entryCount = archive.root.totals.memberCount
    report.contentByteCount = archive.root.totals.contentByteCount
    report.digest = archive.digest.hexadecimal
    report.warningCount = reader.warningCount
    return report
  }

  private func plan(
    _ lanes: LanePool<Job>, _ pool: SlotPool<ReadSlot>, _ account: inout LimitAccount, _ report: inout VerifyReport
  ) throws(ArchiveError) {
    let ahead = PageAhead(archive, summarizes: true) { lanes.enqueue(.page($0)) }
    var plan = ChunkPlanReader<Void>(archive, summarizes: true, ahead: ahead)
    var index = try format { () throws(FormatError) in
      try IndexAccumulator(settings: archive.root.settings, opening: archive.root.opening)
    }
    while let tasks = try plan.nextPage(decide: { member, _ throws(ArchiveError) in
      try account.add(
        member.member.path, contentByteCount: member.member.byteCount, archiveByteCount: archive.file.byteCount)
    }) {
      try stop.check()
      for task in tasks {
        report.chunkCount += 1
        lanes.enqueue(.chunk(task, try pool.acquire()))
        // The preamble lies behind the first data frame.
        if task.number == 0 {
          try compare(index.preambleFrame, at: task.offset + UInt64(task.record.storedByteCount), "preamble")
        }
      }
      if let summary = plan.lastSummary {
        do throws(FormatError) { try index.add(summary) } catch { throw ArchiveError(error) }
      }
      if plan.mustSettle() { lanes.wait() }
    }
    var offset = archive.directoryOffsets.first ?? archive.rootOffset
    _ = try index.finish(closing: archive.root.closing, wrap: { ArchiveError($0) }) { frame throws(ArchiveError) in
      try compare(frame, at: offset, "directory, root or seek table")
      offset += UInt64(frame.count)
    }
    guard offset == archive.file.byteCount else {
      throw ArchiveError(
        .mismatch, "the archive has \(archive.file.byteCount) bytes where its index accounts for \(offset)",
        offset: offset)
    }
  }

  /// Everything outside the data frames has one form: it is made again and compared byte by byte.
  private func compare(_ expected: [UInt8], at offset: UInt64, _ what: String) throws(ArchiveError) {
    guard try archive.file.read(offset..<offset + UInt64(expected.count)) == expected else {
      throw ArchiveError(.mismatch, "\(what): the bytes differ from what the pages give", offset: offset)
    }
  }

  private static func count(_ task: ChunkTask<Void>, _ progress: ProgressCounter) {
    var (byteCount, memberCount): (UInt64, UInt64) = (0, 0)
    for part in task.parts where part.endsMember {
      byteCount.add(clamping: part.member.member.byteCount)
      memberCount += 1
    }
    progress.add(contentByteCount: byteCount, memberCount: memberCount)
  }

  private static func verify(
    _ task: ChunkTask<Void>, _ slot: ReadSlot, _ loader: ChunkLoader, _ check: MemberCheck, _ stop: StopSignal,
    _ isQuick: Bool, _ findings: Findings
  ) throws(ArchiveError) {
    let content: UnsafeRawBufferPointer
    do throws(ArchiveError) {
      if isQuick {
        return try loader.check(task.record, number: task.number, at: task.offset)
      }
      unsafe content = try unsafe loader.load(task.record, number: task.number, at: task.offset, into: slot)
    } catch {
      // Only those that are decoded take their turn: behind the others nobody may wait for it.
      if !isQuick { for part in task.parts { try unsafe part.spanning?.take(part, in: nil, stop: stop) } }
      guard error.isDamage else { throw error }
      findings.add(
        ArchiveDamage(
          chunk: task.number, offset: task.offset, message: error.message,
          members: task.parts.map { $0.member.member.path }))
      return
    }
    if task.isEnd, unsafe content.contains(where: { $0 != 0 }) {
      findings.add(
        ArchiveDamage(chunk: task.number, offset: task.offset, message: "the end blocks are not zeros", members: []))
    }
    for part in task.parts {
      do throws(ArchiveError) {
        if let spanning = part.spanning {
          try unsafe spanning.take(part, in: content, stop: stop)
        } else {
          try unsafe check.check(part, in: content, tarOffset: task.tarOffset)
        }
      } catch {
        guard error.isDamage || error.code == .unsupported || error.code == .limitExceeded else { throw error }
        findings.add(
          ArchiveDamage(
            chunk: task.number, offset: task.offset,
            message: "\(PathText.printable(part.member.member.path)): \(error.message)",
            members: [part.member.member.path]))
      }
    }
  }
}
