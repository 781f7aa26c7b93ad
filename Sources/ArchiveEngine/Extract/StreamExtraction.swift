internal import ArchiveFormat
internal import ArchiveIO

/// Extracts what a stream brings: the control thread reads headers and decides, lanes decode frames and make files.
final class StreamExtraction: StreamVisitor {
  private let planner: ExtractPlanner
  private let context: ExtractContext
  private let selection: MemberSelection
  /// On a further pass: the contents for which the archive is read again. Nothing else is made then.
  private let missing: MissingContents?
  private let enqueue: (ExtractJob) -> Void
  private let archiveOffset: () -> UInt64
  /// All bytes of the archive; nil for a pipe, where the ratio is judged by what has come.
  private let archiveByteCount: UInt64?
  private var parts: [MemberPart<LeafAction>] = []
  /// The buffer that ``parts`` lie in; nil while none of them has data.
  private var slot: StreamSlot?
  private var current: (member: IndexedMember, action: LeafAction, index: Int)?
  /// Bytes of memory of members that lanes may still be making.
  private var underWayByteCount = 0
  private static let maximumUnderWayByteCount = 16 << 20
  private(set) var matched: Set<Int> = []
  /// Files of which parts are missing; removed after a failure.
  private var open: [SpanningOutput] = []

  init(
    planner: ExtractPlanner, context: ExtractContext, selection: MemberSelection, missing: MissingContents?,
    archiveByteCount: UInt64?, archiveOffset: @escaping () -> UInt64, enqueue: @escaping (ExtractJob) -> Void
  ) {
    self.planner = planner
    self.context = context
    self.selection = selection
    self.missing = missing
    self.archiveByteCount = archiveByteCount
    self.archiveOffset = archiveOffset
    self.enqueue = enqueue
  }

  func begin(_ parsed: ParsedMember, fits: Bool, offset: UInt64) throws(ArchiveError) {
    current = nil
    let member = parsed.member
    planner.position += 1
    guard let action = try choose(member, spans: !fits) else { return }
    // A member with many attributes takes more than what it is read from.
    underWayByteCount += member.memoryByteCount
    if underWayByteCount > Self.maximumUnderWayByteCount {
      try planner.settle()
      underWayByteCount = member.memoryByteCount
    }
    if let output = action.output {
      open.removeAll { $0.isComplete }
      open.append(output)
    }
    current = (IndexedMember(member: member, headerByteCount: parsed.headerByteCount), action, 0)
  }

  private func choose(_ member: Member, spans: Bool) throws(ArchiveError) -> LeafAction? {
    if let missing {
      return try planner.supply(member, to: missing, spans: spans, archiveByteCount: archiveByteCount)
    }
    if !selection.isEverything {
      guard let index = selection.match(member.path) else { return nil }
      matched.insert(index)
    }
    return try planner.decide(member, spans: spans, archiveByteCount: archiveByteCount)
  }

  func data(_ range: Range<Int>, storedOffset: UInt64, in piece: StreamPiece) throws(ArchiveError) {
    guard let (member, action, index) = current else { return }
    slot = piece.slot
    let left = member.dataByteCount - storedOffset - UInt64(range.count)
    if archiveByteCount == nil {
      try planner.checkRatio(member.member.path, missing: left, archiveByteCount: archiveOffset())
    }
    let isLast = left == 0
    parts.append(
      MemberPart(
        member: member, headerRange: 0..<0, dataRange: range, dataOffset: storedOffset, spanning: nil, index: index,
        action: action, endsMember: isLast))
    current = isLast ? nil : (member, action, index + 1)
  }

  func end(_ parsed: ParsedMember) throws(ArchiveError) {
    // Members without data are made here; those with data ended with their last part.
    if let (member, action, index) = current {
      parts.append(
        MemberPart(
          member: member, headerRange: 0..<0, dataRange: 0..<0, dataOffset: 0, spanning: nil, index: index,
          action: action, endsMember: true))
    }
    current = nil
  }

  func reject(_ rejected: RejectedMember) throws(ArchiveError) {
    if missing != nil { return }
    if !selection.isEverything, !selection.contains(rejected.path) { return }
    try planner.reject(
      rejected.path,
      ArchiveError(.rejected, rejected.reason.message + " (tar offset \(rejected.headerOffset))", path: rejected.path))
  }

  func markIncomplete(_ paths: [[UInt8]]) throws(ArchiveError) {
    if let missing {
      flush()
      for path in paths { try planner.withhold(path, from: missing) }
      return
    }
    for path in paths where selection.contains(path) {
      try planner.withdraw(path, "is incomplete in the archive; left out")
    }
  }

  func finish(_ piece: StreamPiece) throws(ArchiveError) {
    guard !parts.isEmpty else {
      context.streamPool?.release(piece.slot)
      return
    }
    enqueue(.piece(parts, piece.slot, isLast: true))
    parts = []
    slot = nil
    try context.stop.check()
  }

  /// Hands over what was collected of the piece that is being read, for a run that has to wait for it.
  func flush() {
    guard !parts.isEmpty else { return }
    enqueue(.piece(parts, slot, isLast: false))
    parts = []
  }

  /// Removes files that will not be completed. All lanes are done.
  func abandonOpen() {
    let leaves = LeafCreator(context.destination)
    for output in open where !output.isComplete { leaves.abandon(output) }
  }
}
