internal import ArchiveFormat
internal import ArchiveIO
internal import Dispatch

/// The XXH3-128 of content whose pieces are in the hands of different lanes: piece i is hashed after piece i - 1.
///
/// Jobs are handed out in order, so the earliest unfinished piece never waits for a later one and the chain cannot deadlock.
final class HashChain: Sendable {
  private struct State {
    var next = 0
    var isIncomplete = false
    var waiting: [Int: DispatchSemaphore] = [:]
  }

  private let hash: RunningHash128
  private let state = Locked(State())

  init() throws(ArchiveError) { hash = try RunningHash128() }

  /// Puts bytes in front of piece 0. Before any piece is hashed.
  func seed(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe hash.update($0) } }

  /// Hashes piece `index` if all before it were; returns whether it did.
  func tryUpdate(_ index: Int, _ bytes: UnsafeRawBufferPointer, isIncomplete: Bool = false) -> Bool {
    guard state.withLock({ $0.next == index }) else { return false }
    unsafe hash.update(bytes)  // only the holder of the turn gets here
    let waiter = state.withLock { state in
      state.next += 1
      if isIncomplete { state.isIncomplete = true }
      return state.waiting.removeValue(forKey: state.next)
    }
    waiter?.signal()
    return true
  }

  /// Hashes piece `index`, after waiting for its turn. Throws what stopped the run.
  func update(
    _ index: Int, _ bytes: UnsafeRawBufferPointer, isIncomplete: Bool = false, stop: StopSignal,
    profile: LaneProfile? = nil
  ) throws(ArchiveError) {
    let turn = DispatchSemaphore(value: 0)
    let mustWait = state.withLock { state in
      guard state.next != index else { return false }
      state.waiting[index] = turn
      return true
    }
    if mustWait {
      let registration = stop.token.onCancel { turn.signal() }
      profile.wait(\.chainWaitNanoseconds) { turn.wait() }
      withExtendedLifetime(registration) {}
      try stop.check()
    }
    _ = profile.ordered(.memberHash) { unsafe tryUpdate(index, bytes, isIncomplete: isIncomplete) }
  }

  /// The hash of all pieces, and whether one of them was incomplete. After the last piece.
  func finish() -> (hash: Hash128, isIncomplete: Bool) {
    (hash.digest(), state.withLock { $0.isIncomplete })
  }
}
