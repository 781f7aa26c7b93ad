internal import ArchiveFormat
internal import ArchiveIO

/// Extracts through the index: chunks are fetched, checked and decoded in parallel, and files made in parallel.
struct IndexedExtraction {
  let archive: IndexedArchive
  let options: ExtractOptions
  let selection: MemberSelection
  let planner: ExtractPlanner
  let context: ExtractContext
  let laneCount: Int
  /// Where lanes' failures and the caller's cancellation meet.
  let stop: StopSignal

  /// Checks all that the index shows before anything is made that would stay, then extracts.
  func run() throws(ArchiveError) {
    var matched: Set<Int> = []
    if needsSurvey {
      matched = try options.profile.measure(.survey, within: .planning) { () throws(ArchiveError) in try surveyIndex() }
    }
    let lanes = try LanePool<ExtractJob>(laneCount: laneCount, label: "archive-extract", profile: options.profile) {
      lane throws(ArchiveError) in
      let worker = try ExtractWorker(context, archive: archive, profile: lane)
      return { worker.perform($0) }
    }
    defer { lanes.end() }
    // The writer takes no name twice without saying so in the root.
    planner.settle = { () throws(ArchiveError) in
      throw ArchiveError(.rejected, "the index lists two members of this name")
    }
    var open: [SpanningOutput] = []
    do throws(ArchiveError) {
      try pass(lanes, &open) { member, spans throws(ArchiveError) in try decide(member, spans: spans) }
      try planner.finish(stop: stop) { missing throws(ArchiveError) in
        try pass(lanes, &open) { indexed, spans throws(ArchiveError) in
          planner.position += 1
          if indexed.isIncomplete {
            try planner.withhold(indexed.member.path, from: missing)
            return nil
          }
          return try planner.supply(
            indexed.member, to: missing, spans: spans, archiveByteCount: archive.file.byteCount)
        }
      }
    } catch {
      stop.fail(error)
      lanes.wait()
      let leaves = LeafCreator(context.destination)
      for output in open where !output.isComplete { leaves.abandon(output) }
      planner.finishAfterFailure(lanesAreDone: false)
      throw stop.error ?? error
    }
    let missing = selection.unmatched(matched)
    if let first = missing.first { throw ArchiveError(.notFound, "is not in the archive", path: first) }
  }

  /// Goes through the chunks that hold what is wanted, and waits until it is made.
  private func pass(
    _ lanes: LanePool<ExtractJob>, _ open: inout [SpanningOutput],
    decide: (IndexedMember, _ spans: Bool) throws(ArchiveError) -> LeafAction?
  ) throws(ArchiveError) {
    let ahead = PageAhead(archive, profile: options.profile) { lanes.enqueue(.page($0)) }
    var plan = ChunkPlanReader<LeafAction>(archive, ahead: ahead)
    while true {
      try stop.check()
      if plan.mustSettle() { lanes.wait() }
      let tasks = try plan.nextPage { member, spans throws(ArchiveError) in
        let action = try decide(member, spans)
        if let output = action?.output { open.append(output) }
        return action
      }
      guard let tasks else { break }
      for task in tasks where !task.parts.isEmpty {
        guard let pool = context.chunkPool else { break }
        let slot = try options.profile.controlWait { () throws(ArchiveError) in try pool.acquire() }
        lanes.enqueue(.chunk(task, slot))
      }
      open.removeAll { $0.isComplete }
    }
    options.profile.controlWait { lanes.wait() }
    try stop.check()
  }

  private func decide(_ indexed: IndexedMember, spans: Bool) throws(ArchiveError) -> LeafAction? {
    let member = indexed.member
    planner.position += 1
    guard selection.contains(member.path) else { return nil }
    if indexed.isIncomplete {
      planner.skipIncomplete(member.path)
      return .check
    }
    let action = try planner.decide(
      member, spans: spans, archiveByteCount: archive.file.byteCount)
    // Members that the control thread made itself are compared with the tar stream all the same.
    return action ?? .check
  }

  /// A new place appears whole or not at all: a fault of the index may as well show on the way. The survey reads all pages once more,
  /// which is a quarter of the ordered work for trees of small files.
  private var needsSurvey: Bool {
    !context.destination.isNew || !selection.isEverything || !options.limits.areOnMemoryOnly
  }

  /// Looks at all that the index shows of what is wanted; which selections match something.
  private func surveyIndex() throws(ArchiveError) -> Set<Int> {
    var matched: Set<Int> = []
    var account = LimitAccount(options.limits)
    let mustLook = !context.destination.isNew && context.destination.overwrite == .fail
    let leaves = LeafCreator(context.destination)
    let codec = archive.makeCodec()
    var pages = PageIterator(archive)
    while let location = try pages.nextLocation() {
      try stop.check()
      for indexed in try archive.page(location, codec: codec).members {
        let member = indexed.member
        if !selection.isEverything {
          guard let index = selection.match(member.path) else { continue }
          matched.insert(index)
        }
        try account.add(
          member.path, contentByteCount: member.byteCount, archiveByteCount: archive.file.byteCount)
        if mustLook, member.kind != .directory, !options.isLenient, options.stripComponentCount == 0 {
          try checkAbsent(member.path, leaves)
        }
      }
    }
    return matched
  }

  private func checkAbsent(_ path: [UInt8], _ leaves: LeafCreator) throws(ArchiveError) {
    do throws(SystemError) {
      let (parent, name) = try leaves.locate(path)
      _ = try FileSystem.status(at: parent, name)
    } catch {
      if error.isNotFound { return }
      if error.isNotDirectory {
        throw ArchiveError(.rejected, "a directory on its way is a link or a file in the destination", path: path)
      }
      throw ArchiveError(error, path: path)
    }
    throw ExtractPlanner.alreadyThere.at(path: path)
  }
}
