/// One lane's part of a profile. Used on the lane's thread only, and set up before it starts.
final class LaneProfile: Sendable {
  private let profile: RunProfile
  private let index: Int

  init(profile: RunProfile, index: Int) {
    self.profile = profile
    self.index = index
  }

  /// Counts the processor time since `start`, and gives the time from which to count on.
  func addWork(since start: UInt64) -> UInt64 {
    let now = Clocks.threadNanoseconds
    profile.change(lane: index) { $0.cpuNanoseconds += now - start }
    return now
  }

  /// Counts processor time for an ordered section, in place of the lane.
  fileprivate func add(_ nanoseconds: UInt64, to section: OrderedSection) {
    profile.add(nanoseconds, to: section, inLane: index)
  }

  fileprivate func addWait(_ wait: WritableKeyPath<RunProfile.Lane, UInt64>, _ nanoseconds: UInt64) {
    profile.change(lane: index) { $0[keyPath: wait] += nanoseconds }
  }
}

extension LaneProfile? {
  /// Runs `body`, in which the lane waits for what the key path says.
  func wait<Result, Failure: Error>(
    _ kind: WritableKeyPath<RunProfile.Lane, UInt64>, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let self else { return try body() }
    let start = Clocks.monotonicNanoseconds
    defer { self.addWait(kind, Clocks.monotonicNanoseconds - start) }
    return try body()
  }

  /// Runs `body` on the lane, whose turn it is in an order that all lanes keep.
  func ordered<Result>(_ section: OrderedSection, _ body: () -> Result) -> Result {
    guard let self else { return body() }
    let start = Clocks.threadNanoseconds
    defer { self.add(Clocks.threadNanoseconds - start, to: section) }
    return body()
  }

  /// Performs jobs until there is none, and counts the lane's time and waiting.
  func run<Job>(_ next: () -> Job?, _ perform: (Job) -> Void) {
    var start = self == nil ? 0 : Clocks.threadNanoseconds
    while let job = wait(\.jobWaitNanoseconds, next) {
      perform(job)
      if let self { start = self.addWork(since: start) }
    }
  }
}
