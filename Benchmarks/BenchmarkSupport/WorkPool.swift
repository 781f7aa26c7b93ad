internal import ArchiveIO
internal import Dispatch

/// Threads that perform tasks, each of which may add more, until none is left. The latest comes first, so that a tree is gone through
/// in depth and few of its directories are open.
final class WorkPool<Task: Sendable>: Sendable {
  private struct State {
    var tasks: [Task]
    /// Tasks that are not done.
    var openCount: Int
    var failure: (any Error)?
  }

  private let state: Locked<State>
  private let available = DispatchSemaphore(value: 0)
  private let threadCount: Int

  private init(_ tasks: [Task], threadCount: Int) {
    state = Locked(State(tasks: tasks.reversed(), openCount: tasks.count))
    self.threadCount = threadCount
    for _ in tasks { available.signal() }
  }

  /// Adds tasks; from within a task only.
  func add(_ tasks: [Task]) {
    state.withLock {
      $0.tasks += tasks.reversed()
      $0.openCount += tasks.count
    }
    for _ in tasks { available.signal() }
  }

  /// Performs the tasks and those that they add; returns when all are done. The first error ends it.
  static func run(
    _ tasks: [Task], threadCount: Int,
    _ perform: @escaping @Sendable (Task, _ thread: Int, WorkPool) throws -> Void
  ) throws {
    guard !tasks.isEmpty else { return }
    let pool = WorkPool(tasks, threadCount: threadCount)
    let group = DispatchGroup()
    for thread in 0..<threadCount {
      DispatchQueue(label: "benchmark.work\(thread)").async(group: group) { pool.work(thread, perform) }
    }
    group.wait()
    if let failure = pool.state.withLock({ $0.failure }) { throw failure }
  }

  /// Performs tasks that add none.
  static func forEach(
    _ tasks: [Task], threadCount: Int, _ perform: @escaping @Sendable (Task, _ thread: Int) throws -> Void
  ) throws {
    try run(tasks, threadCount: threadCount) { task, thread, _ in try perform(task, thread) }
  }

  private func work(_ thread: Int, _ perform: (Task, Int, WorkPool) throws -> Void) {
    while let task = next() {
      do { try perform(task, thread, self) } catch {
        state.withLock { state in
          if state.failure == nil { state.failure = error }
          state.openCount -= state.tasks.count
          state.tasks = []
        }
      }
      let isDone = state.withLock { state in
        state.openCount -= 1
        return state.openCount == 0
      }
      if isDone { for _ in 0..<threadCount { available.signal() } }
    }
  }

  /// nil when all tasks are done.
  private func next() -> Task? {
    while true {
      available.wait()
      let (task, isDone) = state.withLock { ($0.tasks.popLast(), $0.openCount == 0) }
      if let task { return task }
      if isDone { return nil }
    }
  }
}
