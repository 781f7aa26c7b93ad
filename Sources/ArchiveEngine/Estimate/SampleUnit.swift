internal import ArchiveFormat

/// What is known of a candidate when the sampling is over.
struct SampleUnit: Sendable {
  /// What a look said that it may compress to; nil for what was not looked at or will be stored.
  var size: Double?
  /// How likely it was to be measured.
  var chance: Double
  var measure: CandidateChunk.Measure?
  /// Bytes of the tar stream.
  var tarByteCount: Int
  var memberCount: Int
  /// It has a page of its own.
  var isGroup: Bool

  init(_ candidate: CandidateChunk, size: Double? = nil, chance: Double) {
    self.size = size
    self.chance = chance
    measure = candidate.measure
    tarByteCount = candidate.tarByteCount
    memberCount = candidate.memberCount
    isGroup = candidate.isGroup
  }

  /// Bytes of its frame, where they are known.
  var frameByteCount: Double? {
    if let measure { return Double(measure.frameByteCount) }
    guard size == nil else { return nil }
    return tarByteCount > 0 ? Double(RawFrame.frameByteCount(contentByteCount: tarByteCount)) : 0
  }

  /// What creating it costs, in the unit of ``SampleBudget``.
  var work: Double { Double(tarByteCount) + Double(SampleBudget.memberByteCount * memberCount) }
}
