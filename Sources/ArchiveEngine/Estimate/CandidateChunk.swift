internal import ArchiveIO

/// A chunk that may be sampled, and what lanes found out about it.
final class CandidateChunk: Sendable {
  /// What a cheap look at a chunk tells.
  enum Look: Sendable {
    /// It will be stored without compression, which fixes the size of its frame.
    case stored
    /// Bytes that it may compress to. They mean something only in relation to those of other chunks.
    case likely(Double)
  }

  /// What compressing the chunk gave.
  struct Measure: Sendable {
    var frameByteCount = 0
    /// Bytes of the index page; nil when the chunk has none of its own.
    var pageByteCount: Int?
    var seconds = 0.0
  }

  private struct State {
    var chunk: PlannedChunk
    var tarByteCount: Int
    var look: Look?
    var measure: Measure?
  }

  private let state: Locked<State>

  init(_ chunk: PlannedChunk) { state = Locked(State(chunk: chunk, tarByteCount: chunk.tarByteCount)) }

  /// What it is made of; a lane changes it by what it finds out about single members.
  var chunk: PlannedChunk {
    get { state.withLock { $0.chunk } }
    set {
      let byteCount = newValue.tarByteCount
      state.withLock {
        $0.chunk = newValue
        $0.tarByteCount = byteCount
      }
    }
  }

  /// Bytes of the tar stream in it.
  var tarByteCount: Int { state.withLock { $0.tarByteCount } }

  /// Members that begin in it.
  var memberCount: Int { state.withLock { $0.chunk.memberCount } }

  /// It has a page of its own.
  var isGroup: Bool { state.withLock { if case .group = $0.chunk { true } else { false } } }

  /// Nil until a lane has looked.
  var look: Look? {
    get { state.withLock { $0.look } }
    set { state.withLock { $0.look = newValue } }
  }

  /// Nil unless it was compressed.
  var measure: Measure? {
    get { state.withLock { $0.measure } }
    set { state.withLock { $0.measure = newValue } }
  }
}
