internal import ArchiveIO
internal import Dispatch

/// Bounds how much memory of a kind that slots do not hold is under way: whoever wants more waits until some has come back.
///
/// One thread takes, any gives back. A single amount may be larger than the whole budget: it is then alone.
final class ByteBudget: Sendable {
  private struct State {
    var used = 0
    var isWaiting = false
  }

  private let limit: Int
  private let state = Locked(State())
  private let returned = DispatchSemaphore(value: 0)
  private let stop: StopSignal
  private let registration: CancellationToken.Registration?

  init(byteCount limit: Int, stop: StopSignal) {
    self.limit = limit
    self.stop = stop
    registration = stop.token.onCancel { [returned] in returned.signal() }
  }

  /// Takes an amount; blocks while too much is under way. Throws what stopped the run.
  func take(_ byteCount: Int) throws(ArchiveError) {
    while true {
      try stop.check()
      let isTaken = state.withLock { state in
        state.isWaiting = state.used > 0 && byteCount > limit - state.used
        if !state.isWaiting { state.used += byteCount }
        return !state.isWaiting
      }
      if isTaken { return }
      returned.wait()
    }
  }

  /// Gives an amount back. Any thread.
  func giveBack(_ byteCount: Int) {
    let isAwaited = state.withLock { state in
      state.used -= byteCount
      defer { state.isWaiting = false }
      return state.isWaiting
    }
    if isAwaited { returned.signal() }
  }
}
