internal import ArchiveIO

/// A chunk that may be sampled, and what lanes found out about it.
final class CandidateChunk: Sendable {
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
    var survey = Survey()
    var isSurveyed = false
    var pageByteCount: Int?
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

  /// What a lane found out by going through its members.
  struct Survey: Sendable {
    /// Bytes of the tar stream without the contents of repetitions (``ChunkLayout``), of what will be compressed.
    var freshByteCount = 0
    /// Those contents.
    var repeatByteCount = 0
    /// It will not be compressed.
    var isStored = false
  }

  /// Nothing until a lane has been through the members.
  var survey: Survey {
    get { state.withLock { $0.survey } }
    set {
      state.withLock {
        $0.survey = newValue
        $0.isSurveyed = true
      }
    }
  }

  /// A lane has been through the members.
  var isSurveyed: Bool { state.withLock { $0.isSurveyed } }

  /// Bytes of its page; nil unless one was made.
  var pageByteCount: Int? {
    get { state.withLock { $0.measure?.pageByteCount ?? $0.pageByteCount } }
    set { state.withLock { $0.pageByteCount = newValue } }
  }

  /// Nil unless it was compressed.
  var measure: Measure? {
    get { state.withLock { $0.measure } }
    set { state.withLock { $0.measure = newValue } }
  }
}
