/// What was found out about a tree.
struct ChunkSample: Sendable {
  /// All chunks, or an even choice of them.
  let candidates: [CandidateChunk]
  var pieces: [SamplePiece] = []
  var repetitions: [SampleRepetition] = []

  init(candidates: [CandidateChunk]) { self.candidates = candidates }

  /// Every chunk was compressed.
  var isComplete: Bool { candidates.allSatisfy { $0.measure != nil } }

  var tarByteCount: Double { candidates.reduce(0.0) { $0 + Double($1.tarByteCount) } }
}
