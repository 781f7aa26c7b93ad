internal import ArchiveIO

/// Measures where a run spends processor time and where its threads wait: what decides how it scales.
///
/// Given through ``WriterOptions/profile`` or ``ExtractOptions/profile``; without one a run pays a branch for each chunk. Several runs
/// that share a profile add up. Any thread may take a ``snapshot()``; it is complete once the run has ended.
public final class RunProfile: Sendable {
  private struct LaneState {
    var lane = Lane()
    /// Processor time within the lane's that ordered sections count.
    var orderedNanoseconds: UInt64 = 0
  }
  private struct State {
    var sections = [Int64](repeating: 0, count: OrderedSection.allCases.count)
    var lanes: [LaneState] = []
    var controlWaitNanoseconds: UInt64 = 0
    var scanNanoseconds: UInt64 = 0
  }

  private let state = Locked(State())

  /// A profile of nothing yet.
  public init() {}

  /// What was measured so far.
  public func snapshot() -> Snapshot {
    state.withLock { state in
      Snapshot(
        sections: OrderedSection.allCases.compactMap { section in
          let time = state.sections[section.rawValue]
          return time > 0 ? Section(name: section.name, cpuNanoseconds: UInt64(time)) : nil
        },
        lanes: state.lanes.map { state in
          var lane = state.lane
          // A lane's time comes when its job is done, that of an ordered section within it before.
          lane.cpuNanoseconds -= min(lane.cpuNanoseconds, state.orderedNanoseconds)
          return lane
        }, controlWaitNanoseconds: state.controlWaitNanoseconds,
        scanNanoseconds: state.scanNanoseconds)
    }
  }

  /// Adds processor time to a section; `outer` is the section that counts the same time and gives it up.
  func add(_ nanoseconds: UInt64, to section: OrderedSection, within outer: OrderedSection?) {
    state.withLock { state in
      state.sections[section.rawValue] += Int64(nanoseconds)
      if let outer { state.sections[outer.rawValue] -= Int64(nanoseconds) }
    }
  }

  func addControlWait(_ nanoseconds: UInt64) { state.withLock { $0.controlWaitNanoseconds += nanoseconds } }

  func addScan(_ nanoseconds: UInt64) { state.withLock { $0.scanNanoseconds += nanoseconds } }

  /// A new lane of a run that begins.
  func addLane() -> LaneProfile {
    let index = state.withLock { state in
      state.lanes.append(LaneState())
      return state.lanes.count - 1
    }
    return LaneProfile(profile: self, index: index)
  }

  func change(lane: Int, _ body: (inout Lane) -> Void) { state.withLock { body(&$0.lanes[lane].lane) } }

  /// Adds processor time of a lane to a section, in place of the lane.
  func add(_ nanoseconds: UInt64, to section: OrderedSection, inLane lane: Int) {
    state.withLock { state in
      state.sections[section.rawValue] += Int64(nanoseconds)
      state.lanes[lane].orderedNanoseconds += nanoseconds
    }
  }
}

extension RunProfile {
  /// Processor time of work that happens in one order, one piece after the other, whatever the number of lanes.
  public struct Section: Sendable, Equatable {
    /// What it is: "planning", "drain", …
    public var name: String
    /// Time on a processor.
    public var cpuNanoseconds: UInt64

    /// Makes one from its parts.
    public init(name: String, cpuNanoseconds: UInt64) {
      self.name = name
      self.cpuNanoseconds = cpuNanoseconds
    }
  }

  /// What one lane did and for what it waited.
  public struct Lane: Sendable, Equatable {
    /// Time on a processor, without what the ordered sections count.
    public var cpuNanoseconds: UInt64 = 0
    /// Waiting until there was a job.
    public var jobWaitNanoseconds: UInt64 = 0
    /// Waiting until its buffer was written and could be used again.
    public var slotWaitNanoseconds: UInt64 = 0
    /// Waiting until another lane had hashed the part of the member before its own.
    public var chainWaitNanoseconds: UInt64 = 0

    /// A lane that did nothing yet.
    public init() {}

    /// All waiting.
    public var waitNanoseconds: UInt64 { jobWaitNanoseconds + slotWaitNanoseconds + chainWaitNanoseconds }
  }

  /// What a profile has measured.
  public struct Snapshot: Sendable, Equatable {
    /// The ordered work, by kind; kinds that took no time are not listed.
    public var sections: [Section]
    /// The lanes, in no order that means something.
    public var lanes: [Lane]
    /// How long the control thread waited for a free buffer or for lanes to come to an end.
    public var controlWaitNanoseconds: UInt64
    /// Processor time of the threads that look at directories ahead of a walk.
    public var scanNanoseconds: UInt64

    /// Makes one from its parts.
    public init(sections: [Section], lanes: [Lane], controlWaitNanoseconds: UInt64, scanNanoseconds: UInt64 = 0) {
      self.scanNanoseconds = scanNanoseconds
      self.sections = sections
      self.lanes = lanes
      self.controlWaitNanoseconds = controlWaitNanoseconds
    }

    /// Processor time of all ordered work.
    public var orderedNanoseconds: UInt64 { sections.reduce(0) { $0 + $1.cpuNanoseconds } }

    /// Processor time of all work that threads share.
    public var parallelNanoseconds: UInt64 { lanes.reduce(scanNanoseconds) { $0 + $1.cpuNanoseconds } }

    /// Processor time of the run.
    public var cpuNanoseconds: UInt64 { orderedNanoseconds + parallelNanoseconds }

    /// The part of all processor time that is ordered work, 0...1.
    ///
    /// It takes ordered sections for one sequence. Some of them run beside each other on threads of their own (planning and drain), so a
    /// run may scale better than this says, not worse.
    public var serialFraction: Double {
      cpuNanoseconds == 0 ? 0 : Double(orderedNanoseconds) / Double(cpuNanoseconds)
    }

    /// How many times faster than one core so many cores are at best, by Amdahl's law.
    public func predictedSpeedUp(cores: Int) -> Double {
      1 / (serialFraction + (1 - serialFraction) / Double(max(1, cores)))
    }
  }
}
