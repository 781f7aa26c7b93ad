internal import ArchiveIO
internal import Dispatch

/// What the threads of a ``TreeScan`` share: the directories that are to be looked at, those that were, and who waits.
final class ScanState: Sendable {
  /// Entries that may have been looked at and not been walked through: some megabytes. Guessed; a quarter was as fast.
  private static let maximumStepCount = 16_384
  /// Names of large directories that may be held beside the one that the walk is in. Guessed.
  private static let maximumNameCount = 262_144

  private struct State {
    /// To be looked at, the one that comes first last.
    var stack: [ScannedDirectory] = []
    /// Entries that are ready and not walked through.
    var stepCount = 0
    /// Names of directories that are left to be looked at.
    var nameCount = 0
    /// The directory that the walk needs next.
    var awaited: ScannedDirectory?
    var idleCount = 0
    var isClosed = false
  }

  private let state = Locked(State())
  /// Threads look ahead of the walk; without any the walk looks itself.
  let hasThreads: Bool
  private let hasWork = DispatchSemaphore(value: 0)
  private let hasAwaited = DispatchSemaphore(value: 0)

  init(hasThreads: Bool) { self.hasThreads = hasThreads }

  // MARK: Threads that look

  /// The next directory to look at, which is taken then; waits while there is none or enough is ready. nil when the scan is over.
  func take() -> ScannedDirectory? {
    while true {
      let (directory, isClosed) = state.withLock { state in
        let next = state.isClosed ? nil : Self.take(from: &state)
        if next == nil, !state.isClosed { state.idleCount += 1 }
        return (next, state.isClosed)
      }
      if let directory { return directory }
      if isClosed { return nil }
      hasWork.wait()
    }
  }

  private static func take(from state: inout State) -> ScannedDirectory? {
    // What the walk waits for is looked at whatever there is.
    if let awaited = state.awaited, awaited.phase == .waiting {
      awaited.phase = .taken
      return awaited
    }
    while let top = state.stack.last {
      let isTaken = top.phase != .waiting
      if !isTaken {
        let isNew = top.rest == nil
        guard state.stepCount < maximumStepCount, !isNew || state.nameCount < maximumNameCount else { return nil }
        top.phase = .taken
      }
      state.stack.removeLast()
      top.isStacked = false
      if !isTaken { return top }
    }
    return nil
  }

  /// How many entries to look at in one go: few when much is ready, so that directories within directories do not add up.
  var partCount: Int {
    guard hasThreads else { return 128 }
    return state.withLock { $0.stepCount < Self.maximumStepCount / 2 ? 1024 : 128 }
  }

  /// Notes what was found in a directory that the caller had taken, and how many more names are left than before.
  func finish(_ directory: ScannedDirectory, _ steps: [ScannedDirectory.Step], rest: DirectoryRest?, nameChange: Int) {
    let (idle, isAwaited) = state.withLock { state in
      directory.ready.append(steps)
      directory.rest = rest
      directory.phase = rest == nil ? .finished : .waiting
      state.stepCount += steps.count
      state.nameCount += nameChange
      if hasThreads {
        // The rest comes behind all that lies in what was found.
        if rest != nil { Self.push(directory, to: &state) }
        for step in steps.reversed() { if let directory = step.directory { Self.push(directory, to: &state) } }
      }
      let isAwaited = state.awaited === directory
      if isAwaited { state.awaited = nil }
      return (Self.wake(&state), isAwaited)
    }
    if isAwaited { hasAwaited.signal() }
    for _ in 0..<idle { hasWork.signal() }
  }

  private static func push(_ directory: ScannedDirectory, to state: inout State) {
    guard !directory.isStacked else { return }
    directory.isStacked = true
    state.stack.append(directory)
  }

  /// Threads to wake, which are then no longer idle.
  private static func wake(_ state: inout State) -> Int {
    defer { state.idleCount = 0 }
    return state.idleCount
  }

  // MARK: The walk

  /// Takes the directory if it is to be looked at before it can be gone on with.
  func takeIfNeeded(_ directory: ScannedDirectory) -> Bool {
    state.withLock { _ in
      guard directory.ready.isEmpty, directory.phase == .waiting else { return false }
      directory.phase = .taken
      return true
    }
  }

  /// The next part of a directory: nil behind its last. Waits for a thread that looks.
  func next(of directory: ScannedDirectory) -> [ScannedDirectory.Step]? {
    while true {
      let (steps, isOver, idle) = state.withLock { state -> ([ScannedDirectory.Step]?, Bool, Int) in
        if !directory.ready.isEmpty {
          let steps = directory.ready.removeFirst()
          let before = state.stepCount
          state.stepCount -= steps.count
          // Once for half of it: waking takes longer than looking at a small directory.
          let isLow = before >= Self.maximumStepCount / 2 && state.stepCount < Self.maximumStepCount / 2
          return (steps, false, isLow ? Self.wake(&state) : 0)
        }
        if directory.phase == .finished { return (nil, true, 0) }
        state.awaited = directory
        return (nil, false, Self.wake(&state))
      }
      for _ in 0..<idle { hasWork.signal() }
      if let steps { return steps }
      if isOver { return nil }
      hasAwaited.wait()
    }
  }

  /// Ends the threads that look, after what they are at.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      return Self.wake(&state)
    }
    for _ in 0..<idle { hasWork.signal() }
  }

  /// Lets go of all directories. No thread looks any more.
  func clear() {
    state.withLock { state in
      state.stack = []
      state.awaited = nil
    }
  }
}
