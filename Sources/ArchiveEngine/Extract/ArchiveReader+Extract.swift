internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

extension ArchiveReader {
  /// Extracts to a directory. One that does not exist is staged beside it and appears only when all is done; into one that exists files are made under temporary names and
  /// renamed one by one.
  ///
  /// - Throws: with strict options (the default) for the first member that is refused.
  public func extract(to path: [UInt8], options: ExtractOptions = .init()) throws(ArchiveError) -> ExtractSummary {
    try options.profile.measure(.planning) { () throws(ArchiveError) in
      try extract(to: path, options: options, salvaging: nil, begin())
    }
  }

  func extract(
    to path: [UInt8], options: ExtractOptions, salvaging plan: SalvagePlan?, _ stop: StopSignal
  ) throws(ArchiveError) -> ExtractSummary {
    var options = options
    options.limits = limits
    let existing: FileStatus?
    do throws(SystemError) { existing = try FileSystem.statusFollowing(at: FileSystem.currentDirectory, path) } catch {
      guard error.isNotFound else { throw ArchiveError(error, path: path) }
      existing = nil
    }
    guard let existing else { return try extractStaged(to: path, options, plan, stop) }
    guard existing.kind == .directory else {
      throw ArchiveError(.exists, "is there and is not a directory", path: path)
    }
    let root = try system(path: path) { () throws(SystemError) in
      SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, path, [.readOnly, .directory]))
    }
    if let error = DeadRuns.cleanUp(root, shallStop: { stop.isSet }) {
      warn(error.path, "what a killed run has left could not be removed: \(error.message)")
    }
    let destination = try Destination(root: root, isNew: false, options: options)
    defer { destination.endTemporaryNames() }
    let summary = try extract(destination, options, plan, stop)
    if options.syncs {
      try options.profile.measure(.commit, within: .planning) { () throws(ArchiveError) in
        try system(path: path) { () throws(SystemError) in try FileSystem.syncFileSystem(root.rawValue) }
      }
    }
    return summary
  }

  private func extractStaged(
    to path: [UInt8], _ options: ExtractOptions, _ plan: SalvagePlan?, _ stop: StopSignal
  ) throws(ArchiveError) -> ExtractSummary {
    let staging: StagingDirectory
    do throws(SystemError) { staging = try StagingDirectory(path: path) } catch {
      if error.errno == EWOULDBLOCK {
        throw ArchiveError(.exists, "another run is extracting to this directory", path: path)
      }
      throw ArchiveError(error, path: path)
    }
    do throws(ArchiveError) {
      let destination = try Destination(root: staging.root, isNew: true, options: options)
      let summary = try extract(destination, options, plan, stop)
      try stop.check()
      try options.profile.measure(.commit, within: .planning) { () throws(ArchiveError) in
        try system(path: path) { () throws(SystemError) in try staging.commit(sync: options.syncs) }
      }
      return summary
    } catch {
      do throws(SystemError) { try staging.abandon() } catch {
        warn(staging.temporaryName, "could not be removed: \(error.message)")
      }
      throw error
    }
  }

  private func extract(
    _ destination: Destination, _ options: ExtractOptions, _ plan: SalvagePlan?, _ stop: StopSignal
  ) throws(ArchiveError) -> ExtractSummary {
    var archive = plan == nil ? try indexOrNil() : nil
    // Where names repeat, order matters, which only a run over the whole stream keeps.
    if archive?.root.closing[Manifest.repeatedNamesKey] != nil { archive = nil }
    if let indexed = archive,
      try StrippedNames.collide(
        in: indexed, selection: MemberSelection(options.selection), componentCount: options.stripComponentCount,
        stop: stop)
    {
      archive = nil
    }
    let progress = ProgressCounter { [events] in events.send(.progress($0)) }
    let selection = MemberSelection(options.selection)
    let planner = ExtractPlanner(destination, options: options, selection: selection) {
      self.warn($0.path, $0.message)
    }
    let lateSkips = LateSkips()
    let context = ExtractContext(
      destination: destination, isLenient: options.isLenient, stop: stop,
      chunkPool: try archive.map { archive throws(ArchiveError) in try makeChunkPool(archive, stop) },
      streamPool: archive == nil ? try makeStreamPool(stop) : nil, progress: progress,
      profile: options.profile,
      skipped: { path, message in lateSkips.add(path, message) })
    var manifest: [(key: String, value: String)] = []
    do throws(ArchiveError) {
      if let archive {
        let (opening, closing) = (archive.root.preamble.opening.pairs, archive.root.closing.pairs)
        events.send(.manifest(opening.map { ($0.key, $0.value) }))
        manifest = (opening + closing).map { ($0.key, $0.value) }
        try IndexedExtraction(
          archive: archive, options: options, selection: selection, planner: planner, context: context,
          laneCount: laneCount, stop: stop
        ).run()
      } else {
        manifest = try extractStream(planner, context, selection, plan, stop)
      }
    } catch {
      lateSkips.report { self.warn($0, $1) }
      throw error
    }
    lateSkips.report { self.warn($0, $1) }
    progress.finish()
    var summary = planner.summary
    summary.skippedCount += lateSkips.count
    summary.entryCount -= min(summary.entryCount, lateSkips.count)
    summary.warningCount = warningCount
    summary.manifest = manifest
    return summary
  }

  private func extractStream(
    _ planner: ExtractPlanner, _ context: ExtractContext, _ selection: MemberSelection, _ plan: SalvagePlan?,
    _ stop: StopSignal
  ) throws(ArchiveError) -> [(key: String, value: String)] {
    guard let pool = context.streamPool else { return [] }
    let lanes = try LanePool<ExtractJob>(laneCount: laneCount, label: "archive-extract", profile: context.profile) {
      lane throws(ArchiveError) in
      let worker = try ExtractWorker(context, archive: nil, profile: lane)
      return { worker.perform($0) }
    }
    defer { lanes.end() }
    // The extraction holds the planner: they must not hold each other beyond the run.
    defer { planner.settle = {} }
    var extraction: StreamExtraction?
    var manifest: [(key: String, value: String)] = []
    /// Goes through the archive once; on a further pass all that is odd about it has been said.
    func pass(_ missing: MissingContents?) throws(ArchiveError) -> StreamExtraction {
      let source: any TarSource
      if let salvaged = try plan?.source(pool: pool, isFirst: missing == nil, stop: stop) {
        source = salvaged
      } else {
        let bytes = if let plan { try StreamInput(plan.file) } else { try openStream() }
        source = try StreamSource(
          bytes, pool: pool, laneCount: laneCount, limits: limits, stop: stop, profile: context.profile,
          decode: { lanes.enqueue(.decode($0)) })
      }
      let current = StreamExtraction(
        planner: planner, context: context, selection: selection, missing: missing, archiveByteCount: archiveByteCount,
        archiveOffset: { source.offset }, enqueue: { lanes.enqueue($0) })
      extraction = current
      planner.settle = { () throws(ArchiveError) in
        current.flush()
        context.profile.controlWait { lanes.wait() }
        try stop.check()
      }
      let isFirst = missing == nil
      // A salvage's source has compared everything with the index itself.
      let run = try StreamRun(
        source, visitor: current, limits: limits, isLenient: context.isLenient, checksHashes: plan == nil,
        warn: { if isFirst { self.warn($0, $1) } }, note: { if isFirst { self.note($0, $1) } })
      if isFirst { run.onManifest = { self.events.send(.manifest($0)) } }
      try run.run()
      if run.index.isComplete { manifest = run.index.manifest }
      context.profile.controlWait { lanes.wait() }
      try stop.check()
      return current
    }
    let first: StreamExtraction
    do throws(ArchiveError) {
      do throws(ArchiveError) { first = try pass(nil) } catch {
        // What was whole before the damage is what a salvage is for.
        guard let plan, plan.isLoss(error), let reached = extraction, stop.error == nil else { throw error }
        plan.report(SalvageLoss(path: error.path.isEmpty ? nil : error.path, reason: error.message))
        lanes.wait()
        try stop.check()
        reached.abandonOpen()
        first = reached
      }
      let isFile = archiveByteCount != nil || plan != nil
      let readAgain = { (missing: MissingContents) throws(ArchiveError) in _ = try pass(missing) }
      try planner.finish(stop: stop, readAgain: isFile ? readAgain : nil)
    } catch {
      // What came before the fault is complete; lanes finish it, unless they were stopped themselves.
      lanes.wait()
      let lanesAreDone = !stop.isSet
      stop.fail(error)
      extraction?.abandonOpen()
      planner.finishAfterFailure(lanesAreDone: lanesAreDone)
      throw stop.error ?? error
    }
    if let missing = selection.unmatched(first.matched).first {
      throw ArchiveError(.notFound, "is not in the archive", path: missing)
    }
    return manifest
  }
}
