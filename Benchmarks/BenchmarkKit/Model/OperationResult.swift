/// One operation under the same conditions by all programs, in alternating rounds.
package struct OperationResult: Codable, Sendable {
  /// What was done.
  package var operation: Operation
  /// Where and how.
  package var conditions: Conditions
  /// Ours first, then the others in the order in which they were asked for.
  package var programs: [ProgramResult]

  /// Sums up; ratios are against the first program.
  package init(operation: Operation, conditions: Conditions, programs: [ProgramResult]) {
    self.operation = operation
    self.conditions = conditions
    self.programs = programs
    for index in programs.indices.dropFirst() {
      self.programs[index].ratios = PairedRatios(of: programs[index].secondsByRound, over: programs[0].secondsByRound)
    }
  }
}

/// What one program's runs of an operation cost.
package struct ProgramResult: Codable, Sendable {
  /// Its name.
  package var program: String
  /// The exact command.
  package var command: String
  /// Every run after the warm-up.
  package var samples: [Sample]
  /// Wall time.
  package var seconds: Distribution
  /// Median of the CPU time.
  package var cpuSeconds: Double
  /// The largest peak of resident memory.
  package var peakByteCount: UInt64
  /// Median of the system calls that read.
  package var readCallCount: UInt64?
  /// Median of the system calls that write.
  package var writeCallCount: UInt64?
  /// Calls of malloc and its kin, counted in a run of its own; nil where they cannot be counted.
  package var allocationCount: UInt64?
  /// Content bytes in a second, by the median; nil for operations that leave content alone.
  package var bytesPerSecond: Double?
  /// Files in a second, by the median; nil for operations that leave content alone.
  package var filesPerSecond: Double?
  /// Its wall time over ours, pair by pair; nil for ours.
  package var ratios: PairedRatios?

  /// Sums samples up; nil without any.
  package init?(
    program: String, command: String, samples: [Sample], allocationCount: UInt64? = nil,
    contentByteCount: UInt64? = nil,
    fileCount: UInt64? = nil
  ) {
    guard let seconds = Distribution(samples.map(\.seconds)), let cpu = Distribution(samples.map(\.cpuSeconds)) else {
      return nil
    }
    self.program = program
    self.command = command
    self.samples = samples
    self.seconds = seconds
    cpuSeconds = cpu.p50
    peakByteCount = samples.map(\.peakByteCount).max() ?? 0
    readCallCount = Self.median(samples.map(\.readCallCount))
    writeCallCount = Self.median(samples.map(\.writeCallCount))
    self.allocationCount = allocationCount
    if seconds.p50 > 0 {
      bytesPerSecond = contentByteCount.map { Double($0) / seconds.p50 }
      filesPerSecond = fileCount.map { Double($0) / seconds.p50 }
    }
  }

  /// Nil as soon as one of them is unknown.
  private static func median(_ counts: [UInt64?]) -> UInt64? {
    let known = counts.compactMap { $0 }
    guard known.count == counts.count, let spread = Distribution(known.map { Double($0) }) else { return nil }
    return UInt64(spread.p50.rounded())
  }

  /// For pairs.
  var secondsByRound: [Int: Double] { Dictionary(samples.map { ($0.round, $0.seconds) }) { first, _ in first } }
}
