internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

extension ArchiveReader {
  /// Compares with a directory: names, types, contents, modes, times, links, attributes. Owners are not compared: they depend on who extracts.
  ///
  /// - Returns: the number of differences, each of which was given to `body`.
  public func compare(
    with directory: [UInt8], _ body: (TreeDifference) throws(ArchiveError) -> Void
  ) throws(ArchiveError) -> UInt64 {
    let stop = begin()
    let root = try system(path: directory) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, directory, [.readOnly, .directory]))
    }
    var count: UInt64 = 0
    var failure: ArchiveError?
    try withoutActuallyEscaping(body) { body throws(ArchiveError) in
      let report: (TreeDifference) -> Void = { difference in
        count += 1
        do throws(ArchiveError) { try body(difference) } catch { failure = failure ?? error }
      }
      let comparison = try FileComparison(root, report: report)
      let progress = ProgressCounter { [events] in events.send(.progress($0)) }
      let names: ComparedNames
      if let archive = try indexOrNil() {
        names = try compare(archive, comparison, report, progress, stop)
      } else {
        let pool = try makeStreamPool(stop)
        let visitor = CompareVisitor(comparison, pool: pool, progress: progress)
        _ = try runStream(visitor, pool: pool, stop: stop)
        names = visitor.names
      }
      try findExtra(root, directory, names, report, stop)
      progress.finish()
    }
    if let failure { throw failure }
    return count
  }

  private func compare(
    _ archive: IndexedArchive, _ comparison: FileComparison, _ report: (TreeDifference) -> Void,
    _ progress: ProgressCounter, _ stop: StopSignal
  ) throws(ArchiveError) -> ComparedNames {
    var names = ComparedNames()
    var plan = ChunkPlanReader<Bool>(archive)
    let pool = try makeChunkPool(archive, stop)
    // Lanes decode ahead; the calling thread checks and compares in archive order.
    let lanes = try LanePool<LoadItem>(laneCount: laneCount, label: "archive-compare") { _ throws(ArchiveError) in
      let loader = try ChunkLoader(archive.file)
      return { $0.perform(loader) }
    }
    defer { lanes.end() }
    let check = try MemberCheck()
    var waiting: [(ChunkTask<Bool>, LoadItem)] = []
    func finishOldest() throws(ArchiveError) {
      let (task, item) = waiting.removeFirst()
      defer { pool.release(item.slot) }
      let content = try unsafe item.wait()
      for part in task.parts {
        try stop.check()
        if let spanning = part.spanning {
          try unsafe spanning.take(part, in: content, stop: stop)
        } else {
          try unsafe check.check(part, in: content, tarOffset: task.tarOffset)
        }
        guard part.action else { continue }
        if part.index == 0 { comparison.beginContent(part.member.member) }
        unsafe comparison.compare(
          UnsafeRawBufferPointer(rebasing: content[part.dataRange]), storedOffset: part.dataOffset)
        progress.add(contentByteCount: UInt64(part.dataRange.count), memberCount: part.endsMember ? 1 : 0)
        if part.endsMember { comparison.endContent() }
      }
    }
    do throws(ArchiveError) {
      while let tasks = try plan.nextPage(decide: { indexed, _ throws(ArchiveError) in
        let member = indexed.member
        names.add(member)
        if indexed.isIncomplete {
          report(TreeDifference(path: member.path, message: "is incomplete in the archive"))
          return false
        }
        return try comparison.compareMetadata(member)
      }) {
        for task in tasks {
          if waiting.count == pool.count { try finishOldest() }
          let item = LoadItem(task.record, number: task.number, offset: task.offset, slot: try pool.acquire())
          lanes.enqueue(item)
          waiting.append((task, item))
        }
        if plan.mustSettle() { while !waiting.isEmpty { try finishOldest() } }
      }
      while !waiting.isEmpty { try finishOldest() }
    } catch {
      lanes.wait()
      throw error
    }
    return names
  }

  private func findExtra(
    _ root: SharedDescriptor, _ directory: [UInt8], _ names: ComparedNames, _ report: (TreeDifference) -> Void,
    _ stop: StopSignal
  ) throws(ArchiveError) {
    let walker = try system(path: directory) { () throws(SystemError) in try DirectoryWalker(root: root) }
    while let step = walker.next() {
      try stop.check()
      switch step {
      case .failure(let error):
        report(TreeDifference(path: error.path, message: "cannot be compared: \(error.message)"))
      case .entry(let entry):
        if !names.contains(entry.relativePath) {
          report(TreeDifference(path: entry.relativePath, message: "only in directory"))
          if entry.status.kind == .directory { walker.skipSubtree() }
        }
      }
    }
  }
}

/// A chunk that a lane loads for the control thread.
final class LoadItem: Sendable {
  let slot: ReadSlot
  private let record: ChunkRecord
  private let number: UInt64
  private let offset: UInt64
  private let result = Outcome<Int>()

  init(_ record: ChunkRecord, number: UInt64, offset: UInt64, slot: ReadSlot) {
    self.record = record
    self.number = number
    self.offset = offset
    self.slot = slot
  }

  func perform(_ loader: ChunkLoader) {
    do throws(ArchiveError) {
      result.set(.success(try unsafe loader.load(record, number: number, at: offset, into: slot).count))
    } catch { result.set(.failure(error)) }
  }

  /// Waits for the lane; the bytes are valid until the slot is given back.
  func wait() throws(ArchiveError) -> UnsafeRawBufferPointer {
    let count = try result.wait()
    return unsafe UnsafeRawBufferPointer(start: slot.content.base, count: count)
  }
}

/// Compares what a stream brings.
final class CompareVisitor: StreamVisitor {
  private let comparison: FileComparison
  private let pool: SlotPool<StreamSlot>
  private let progress: ProgressCounter
  private(set) var names = ComparedNames()
  private var isComparing = false

  init(_ comparison: FileComparison, pool: SlotPool<StreamSlot>, progress: ProgressCounter) {
    self.comparison = comparison
    self.pool = pool
    self.progress = progress
  }

  func begin(_ parsed: ParsedMember, fits: Bool, offset: UInt64) throws(ArchiveError) {
    let member = parsed.member
    names.add(member)
    isComparing = try comparison.compareMetadata(member)
    if isComparing { comparison.beginContent(member) }
  }

  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) {
    guard isComparing else { return }
    unsafe comparison.compare(
      UnsafeRawBufferPointer(start: piece.slot.content.base + range.lowerBound, count: range.count),
      storedOffset: storedOffset)
    progress.add(contentByteCount: UInt64(range.count), memberCount: 0)
  }

  func end(_ member: ParsedMember) {
    if isComparing { comparison.endContent() }
    progress.add(contentByteCount: 0, memberCount: 1)
  }

  func reject(_ member: RejectedMember) throws(ArchiveError) {
    throw ArchiveError(
      .rejected, member.reason.message + " (tar offset \(member.headerOffset))", path: member.path)
  }

  func markIncomplete(_ paths: [[UInt8]]) {}
  func finish(_ piece: StreamPiece) { pool.release(piece.slot) }
}

/// The names that an archive accounts for: those of its members and of the directories above them.
struct ComparedNames {
  private var table = NameTable()
  private var lastParent: [UInt8] = []

  mutating func add(_ member: Member) {
    table.set(XXH3.hash64(member.path.span), member.kind == .directory ? .directory : .other)
    guard let slash = member.path.lastIndex(of: UInt8(ascii: "/")) else { return }
    if lastParent.count == slash, member.path.starts(with: lastParent) { return }
    lastParent = Array(member.path[..<slash])
    // Extraction makes directories that are not listed.
    var end = slash
    while true {
      let parent = Array(member.path[..<end])
      let hash = XXH3.hash64(parent.span)
      if table.find(hash) != nil { return }
      table.set(hash, .directory)
      guard let next = parent.lastIndex(of: UInt8(ascii: "/")) else { return }
      end = next
    }
  }

  func contains(_ path: [UInt8]) -> Bool { table.find(XXH3.hash64(path.span)) != nil }
}
