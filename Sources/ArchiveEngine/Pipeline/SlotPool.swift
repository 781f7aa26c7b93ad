internal import ArchiveIO
internal import Dispatch

/// A fixed set of reusable objects. Having none free is the back-pressure of the pipelines.
final class SlotPool<Slot: Sendable>: Sendable {
  /// All slots, free or not.
  let count: Int
  private let free: Locked<[Slot]>
  private let available: DispatchSemaphore
  private let stop: StopSignal
  private let registration: CancellationToken.Registration?

  init(_ slots: [Slot], stop: StopSignal) {
    count = slots.count
    free = Locked(slots)
    let available = DispatchSemaphore(value: 0)
    for _ in slots { available.signal() }
    self.available = available
    self.stop = stop
    registration = stop.token.onCancel { available.signal() }
  }

  /// Takes a slot; blocks while none is free. Throws what stopped the run.
  func acquire() throws(ArchiveError) -> Slot {
    available.wait()
    if stop.isSet {
      available.signal()
      try stop.check()
    }
    if let slot = free.withLock({ $0.popLast() }) { return slot }
    // Only the mark of a stop lets a waiter through without a slot.
    try stop.check()
    throw ArchiveError(.cancelled, "cancelled")
  }

  /// Takes a slot if one is free.
  func tryAcquire() -> Slot? {
    guard available.wait(timeout: .now()) == .success else { return nil }
    if let slot = free.withLock({ $0.popLast() }) { return slot }
    available.signal()
    return nil
  }

  /// Gives a slot back. Any thread.
  func release(_ slot: Slot) {
    free.withLock { $0.append(slot) }
    available.signal()
  }
}
