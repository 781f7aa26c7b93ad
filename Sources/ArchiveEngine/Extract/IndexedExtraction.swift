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

  /// What a first pass over the index finds: links whose target is not wanted, and which selections match.
  private struct Survey {
    var matched: Set<Int> = []
    /// Archive paths of files that are made under the name of a wanted link, since they are not wanted themselves.
    var standIns: [[UInt8]: [[UInt8]]] = [:]
  }

  /// Checks all that the index shows before anything is made, then extracts.
  func run() throws(ArchiveError) {
    var survey = try surveyIndex()
    let lanes = try LanePool<ExtractJob>(laneCount: laneCount, label: "archive-extract") { () throws(ArchiveError) in
      let worker = try ExtractWorker(context, file: archive.file)
      return { worker.perform($0) }
    }
    defer { lanes.end() }
    // The writer takes no name twice without saying so in the root.
    planner.settle = { () throws(ArchiveError) in
      throw ArchiveError(.rejected, "the index lists two members of this name")
    }
    var open: [SpanningOutput] = []
    do throws(ArchiveError) {
      var plan = ChunkPlanReader<LeafAction>(archive)
      while true {
        try stop.check()
        let tasks = try plan.nextPage { member, spans throws(ArchiveError) in
          let action = try decide(member, spans: spans, &survey)
          if let output = action?.output { open.append(output) }
          return action
        }
        guard let tasks else { break }
        for task in tasks where !task.parts.isEmpty {
          guard let pool = context.chunkPool else { break }
          lanes.enqueue(.chunk(task, try pool.acquire()))
        }
        open.removeAll { $0.isComplete }
      }
      lanes.wait()
      try stop.check()
      try planner.finish(stop: stop)
    } catch {
      stop.fail(error)
      lanes.wait()
      let leaves = LeafCreator(context.destination)
      for output in open where !output.isComplete { leaves.abandon(output) }
      planner.finishAfterFailure()
      throw stop.error ?? error
    }
    let missing = selection.unmatched(survey.matched)
    if let first = missing.first { throw ArchiveError(.notFound, "is not in the archive", path: first) }
  }

  private func decide(
    _ indexed: IndexedMember, spans: Bool, _ survey: inout Survey
  ) throws(ArchiveError) -> LeafAction? {
    let member = indexed.member
    if !selection.isEverything, !selection.contains(member.path) {
      guard let links = survey.standIns[member.path], let first = links.first, !indexed.isIncomplete else { return nil }
      // The target of a wanted link is not wanted: its content comes under the link's name, other links to it follow.
      let action = try planner.decide(
        member, as: first, spans: spans, archiveByteCount: archive.file.byteCount)
      for path in links.dropFirst() {
        var link = Member(path: path, kind: .hardlink, mode: member.mode)
        link.linkTarget = first
        _ = try planner.decide(link, as: path, spans: false, archiveByteCount: nil)
      }
      return action
    }
    if indexed.isIncomplete {
      planner.skipIncomplete(member.path)
      return .check
    }
    if member.kind == .hardlink, !selection.isEverything, !selection.contains(member.linkTarget) { return .check }
    let action = try planner.decide(
      member, spans: spans, archiveByteCount: archive.file.byteCount)
    // Members that the control thread made itself are compared with the tar stream all the same.
    return action ?? .check
  }

  private func surveyIndex() throws(ArchiveError) -> Survey {
    var survey = Survey()
    var account = LimitAccount(options.limits)
    let mustLook = !context.destination.isNew && context.destination.overwrite == .fail
    let leaves = LeafCreator(context.destination)
    let codec = PageCodec()
    var pages = PageIterator(archive)
    while let location = try pages.nextLocation() {
      try stop.check()
      for indexed in try archive.page(location, codec: codec).members {
        let member = indexed.member
        if !selection.isEverything {
          guard let index = selection.match(member.path) else { continue }
          survey.matched.insert(index)
          if member.kind == .hardlink, !selection.contains(member.linkTarget) {
            survey.standIns[member.linkTarget, default: []].append(member.path)
          }
        }
        try account.add(
          member.path, contentByteCount: member.byteCount, archiveByteCount: archive.file.byteCount)
        if mustLook, member.kind != .directory, !options.isLenient, options.stripComponentCount == 0 {
          try checkAbsent(member.path, leaves)
        }
      }
    }
    return survey
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
      throw ArchiveError(error).at(path: path)
    }
    throw ArchiveError(.exists, "is there already; --overwrite keep or replace says what shall happen", path: path)
  }
}
