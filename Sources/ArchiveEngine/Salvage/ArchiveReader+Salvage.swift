internal import ArchiveFormat
internal import ArchiveIO

/// What a salvage has brought back.
public struct SalvageSummary: Sendable {
  /// What was restored.
  public var restored: ExtractSummary
  /// Things that are lost; each was reported.
  public var lossCount: UInt64
  /// Losses that no damage explains: index and tar header of a member differ, so one of them was forged.
  public var mismatchCount: UInt64 = 0
  /// The first of them, with both values.
  public var firstMismatch: ArchiveError?
}

extension ArchiveReader {
  /// Restores every member that lies in healthy chunks, whatever has become of the rest of the archive: its head, its tail, its index, or parts in between. From a pipe
  /// everything is first copied into a temporary file.
  ///
  /// Of archives by others, and of plain tars, everything up to the first damage is restored.
  ///
  /// A member whose index record and tar header differ is not restored; the loss tells both values, and ``SalvageSummary/mismatchCount`` counts it.
  ///
  /// - Parameters:
  ///   - path: where it is restored; as for ``extract(to:options:)``.
  ///   - options: as for an extraction; what is refused is always left out and reported.
  ///   - onLoss: called for each member that is lost, and for damage of which no member is known (an empty path), with the reason.
  public func salvage(
    to path: [UInt8], options: ExtractOptions = .init(), onLoss: @escaping (_ path: [UInt8], _ reason: String) -> Void
  ) throws(ArchiveError) -> SalvageSummary {
    var lossCount: UInt64 = 0
    var mismatchCount: UInt64 = 0
    var firstMismatch: ArchiveError?
    let report: (SalvageLoss) -> Void = { loss in
      lossCount += 1
      if loss.isMismatch {
        mismatchCount += 1
        firstMismatch = firstMismatch ?? ArchiveError(.mismatch, loss.reason, path: loss.path ?? [])
      }
      onLoss(loss.path ?? [], loss.reason)
    }
    let stop = begin()
    let file = try salvageFile(stop)
    var scan = try SalvageScan(file, limits: limits, stop: stop)
    let (frames, end) = try scan.frames()
    let isMarked = try Self.beginsLikeOurs(file, frames)
    let isOurs =
      frames.contains { if case .index = $0.kind { true } else { false } }
      || isMarked
    if isOurs, end < file.byteCount {
      warn([], "data after the last frame, at offset \(end), is ignored")
    }
    var options = options
    options.isLenient = true
    let plan = SalvagePlan(file: file, limits: limits, frames: isOurs ? frames : nil, report: report)
    let restored = try extract(to: path, options: options, salvaging: plan, stop)
    return SalvageSummary(
      restored: restored, lossCount: lossCount, mismatchCount: mismatchCount,
      firstMismatch: firstMismatch)
  }

  /// Whether the first frame is marked as ours, should nothing of the index be left.
  private static func beginsLikeOurs(_ file: ArchiveFile, _ frames: [FoundFrame]) throws(ArchiveError) -> Bool {
    guard let first = frames.first, first.offset == 0, case .data(let contentByteCount) = first.kind else {
      return false
    }
    return FirstFrame.isMarked(descriptor: try file.read(4..<5)[0], contentByteCount: contentByteCount)
  }

  /// The archive as a file.
  private func salvageFile(_ stop: StopSignal) throws(ArchiveError) -> ArchiveFile {
    switch input {
    case .indexed(let archive): return archive.file
    case .file(let file, _): return file
    case .pipe:
      let source = try openStream()
      let descriptor = try system { () throws(SystemError) in SharedDescriptor(try TemporaryFile.make()) }
      let buffer = try system { () throws(SystemError) in try Buffer(byteCount: 1 << 20) }
      var byteCount: Int64 = 0
      while true {
        try stop.check()
        let count = try unsafe source.read(into: buffer.bytes)
        if count == 0 { break }
        let at = byteCount
        try system { () throws(SystemError) in
          try unsafe FileSystem.pwrite(
            descriptor.rawValue, UnsafeRawBufferPointer(start: buffer.base, count: count), at: at)
        }
        byteCount += Int64(count)
      }
      return ArchiveFile(descriptor, byteCount: UInt64(byteCount))
    }
  }
}

/// How an extraction becomes a salvage.
struct SalvagePlan {
  let file: ArchiveFile
  let limits: ReadLimits
  /// What was found in an archive of ours; nil for others.
  let frames: [FoundFrame]?
  let report: (SalvageLoss) -> Void

  /// Whether a failure of the run is a loss like others.
  func isLoss(_ error: ArchiveError) -> Bool { [.damaged, .truncated, .mismatch].contains(error.code) }

  /// Where the tar comes from; nil when the file is read like any other.
  ///
  /// - Parameter isFirst: losses are reported once.
  func source(
    pool: SlotPool<StreamSlot>, isFirst: Bool, stop: StopSignal
  ) throws(ArchiveError) -> (any TarSource)? {
    guard let frames else { return nil }
    return try SalvageSource(
      file, frames: frames, limits: limits, pool: pool, stop: stop, report: isFirst ? report : { _ in })
  }
}
