/// What was found out about a tree.
struct ChunkSample: Sendable {
  /// All chunks, or an even choice of them.
  let candidates: [CandidateChunk]
  var pieces: [SamplePiece] = []
  var repetitions: [SampleRepetition] = []

  /// What seems to repeat does so, nearly always. Else it is content as any other: what is left beside it is mostly headers and tells nothing of it.
  var leavesOutRepetitions: Bool {
    !repetitions.isEmpty && 4 * repetitions.count { $0.isEqual ?? false } >= 3 * repetitions.count
  }

  /// Bytes of a candidate of which pieces are taken.
  func sampledByteCount(_ candidate: CandidateChunk) -> Int {
    let survey = candidate.survey
    return survey.freshByteCount + (leavesOutRepetitions ? 0 : survey.repeatByteCount)
  }

  init(candidates: [CandidateChunk]) { self.candidates = candidates }

  /// Every chunk was compressed.
  var isComplete: Bool { candidates.allSatisfy { $0.measure != nil } }

  var tarByteCount: Double { candidates.reduce(0.0) { $0 + Double($1.tarByteCount) } }
}
