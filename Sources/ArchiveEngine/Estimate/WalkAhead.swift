internal import ArchiveIO
internal import Dispatch

/// Goes through a tree on a thread of its own, some steps ahead of whoever takes them: a writer that only plans has nothing else to wait for.
///
/// One thread takes the steps. The tree may change meanwhile as it may during any walk.
final class WalkAhead {
  private static let batchStepCount = 512
  private static let batchCount = 4

  private let queue = JobQueue<[WalkStep]>()
  private let room = DispatchSemaphore(value: 0)
  private let isAbandoned = Locked(false)
  private let group = DispatchGroup()
  private var batch: [WalkStep] = []
  private var position = 0

  /// Begins to walk.
  ///
  /// - Parameter isExcluded: whether an entry is left out, with all below it.
  init(_ walker: DirectoryWalker, isExcluded: @escaping @Sendable (WalkEntry) -> Bool) {
    // Not its initial value: one that is lower at the end is taken for a fault by libdispatch.
    for _ in 0..<Self.batchCount { room.signal() }
    let (walker, queue, room, isAbandoned) = (Handoff(walker), self.queue, self.room, self.isAbandoned)
    DispatchQueue(label: "archive-walk").async(group: group) {
      defer { queue.close() }
      var steps: [WalkStep] = []
      while let step = walker.value.next() {
        if case .entry(let entry) = step, isExcluded(entry) {
          walker.value.skipSubtree()
          continue
        }
        steps.append(step)
        guard steps.count == Self.batchStepCount else { continue }
        room.wait()
        if isAbandoned.withLock({ $0 }) { return }
        queue.push(steps)
        steps = []
      }
      queue.push(steps)
    }
  }

  deinit {
    isAbandoned.withLock { $0 = true }
    room.signal()
    group.wait()
  }

  /// The next entry that is not excluded, or failure; nil at the end.
  func next() -> WalkStep? {
    while position == batch.count {
      if !batch.isEmpty { room.signal() }
      guard let next = queue.pop() else {
        batch = []
        position = 0
        return nil
      }
      batch = next
      position = 0
    }
    position += 1
    return batch[position - 1]
  }
}
