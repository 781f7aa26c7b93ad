internal import ArchiveIO

/// How large the pieces are that are compressed for an estimate, and behind how much of what precedes them.
///
/// Small pieces differ more from what they are within a chunk, but more of them can be had. All numbers are means over fourteen trees at level 3 (2026-11).
struct PieceShape: Sendable, Equatable {
  /// Bytes of a piece; the last of a chunk may have fewer.
  let byteCount: Int
  /// Bytes before it that it is compressed behind. Without any, pieces come to 1.1 to 1.6 times what they are in a chunk; behind a MiB they are nearly exact and cost
  /// three times as much.
  let pastByteCount: Int
  /// What a piece saves within a chunk of 4 MiB and not behind its own past: matches from further away, and fewer tables for literals.
  let contextSaving: Double
  /// How far trees are from that; fonts that resemble each other are further.
  let contextSpread: Double

  static let wide = PieceShape(
    byteCount: 64 << 10, pastByteCount: 256 << 10, contextSaving: 0.034, contextSpread: 0.016)
  static let narrow = PieceShape(
    byteCount: 32 << 10, pastByteCount: 128 << 10, contextSaving: 0.049, contextSpread: 0.022)
}

/// A piece of a chunk that is compressed for an estimate, and what that gave.
final class SamplePiece: Sendable {
  struct Result: Sendable {
    var contentByteCount = 0
    var frameByteCount = 0
    var compressionSeconds = 0.0
    var readSeconds = 0.0
    /// Files opened for it.
    var fileCount = 0
    /// Bytes read for it.
    var readByteCount = 0
  }

  let candidate: CandidateChunk
  let shape: PieceShape
  /// It is one of the chunk without repetitions.
  let leavesOutRepetitions: Bool
  /// Where it begins in that.
  let offset: Int
  private let found = Locked<Result?>(nil)

  /// The piece in which a byte lies. Pieces begin where multiples of their size are, so that each byte is as likely to be in one as any other.
  init(_ candidate: CandidateChunk, _ shape: PieceShape, leavesOutRepetitions: Bool, at offset: Int) {
    self.candidate = candidate
    self.leavesOutRepetitions = leavesOutRepetitions
    self.shape = shape
    self.offset = offset / shape.byteCount * shape.byteCount
  }

  /// Nil until a lane has done it.
  var result: Result? {
    get { found.withLock { $0 } }
    set { found.withLock { $0 = newValue } }
  }
}

/// A member that seems to say what an earlier one of its chunk says, and whether it does.
final class SampleRepetition: Sendable {
  /// Bytes of both that are compared.
  static let byteCount = 16 << 10

  let candidate: CandidateChunk
  /// A byte of it, counted through the contents of the chunk's repetitions.
  let offset: Int
  private let found = Locked<Bool?>(nil)

  init(_ candidate: CandidateChunk, offset: Int) {
    self.candidate = candidate
    self.offset = offset
  }

  /// Nil until a lane has compared the two.
  var isEqual: Bool? {
    get { found.withLock { $0 } }
    set { found.withLock { $0 = newValue } }
  }
}
