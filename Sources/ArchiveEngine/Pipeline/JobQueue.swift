internal import ArchiveIO
internal import Dispatch

/// A queue between producers and consumers that hands jobs out in the order in which they came, but for those that go before all others.
///
/// It has no bound of its own: whoever pushes holds a slot of a ``SlotPool``, which is the bound.
final class JobQueue<Job: Sendable>: Sendable {
  private struct State {
    /// Jobs that were taken are nil, so that nothing keeps them alive.
    var jobs: [Job?] = []
    var head = 0
    var isClosed = false
  }

  private let state = Locked(State())
  private let available = DispatchSemaphore(value: 0)

  /// Adds a job. Any thread.
  func push(_ job: Job) {
    state.withLock { $0.jobs.append(job) }
    available.signal()
  }

  /// Adds a job before all others. Any thread.
  func pushFirst(_ job: Job) {
    state.withLock { state in
      if state.head > 0 {
        state.head -= 1
        state.jobs[state.head] = job
      } else {
        state.jobs.insert(job, at: 0)
      }
    }
    available.signal()
  }

  /// The next job; blocks while there is none. nil after ``close()`` once all jobs are taken.
  func pop() -> Job? {
    available.wait()
    let job: Job? = state.withLock { state in
      guard state.head < state.jobs.count else { return nil }
      let job = state.jobs[state.head].take()
      state.head += 1
      if state.head >= 64, state.head * 2 >= state.jobs.count {
        state.jobs.removeFirst(state.head)
        state.head = 0
      }
      return job
    }
    if job == nil { available.signal() }  // the closing mark stays for the other consumers
    return job
  }

  /// No more jobs will come.
  func close() {
    state.withLock { $0.isClosed = true }
    available.signal()
  }
}
