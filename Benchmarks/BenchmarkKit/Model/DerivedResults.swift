/// What the estimator predicted for a corpus, beside what came out.
package struct EstimateResult: Codable, Sendable {
  /// Content bytes as predicted.
  package var contentByteCount: UInt64
  /// Content bytes that were archived.
  package var actualContentByteCount: UInt64
  /// Archive bytes as predicted.
  package var archiveByteCount: UInt64
  /// The predicted bounds.
  package var archiveByteCountLow: UInt64
  package var archiveByteCountHigh: UInt64
  /// Archive bytes that came out.
  package var actualArchiveByteCount: UInt64
  /// Seconds as predicted.
  package var seconds: Double
  /// Median seconds of creating; nil when that was not measured.
  package var actualSeconds: Double?
  /// Median seconds that the estimate itself took.
  package var ownSeconds: Double

  /// Makes a result.
  package init(
    contentByteCount: UInt64, actualContentByteCount: UInt64, archiveByteCount: UInt64, archiveByteCountLow: UInt64,
    archiveByteCountHigh: UInt64, actualArchiveByteCount: UInt64, seconds: Double, actualSeconds: Double?,
    ownSeconds: Double
  ) {
    self.contentByteCount = contentByteCount
    self.actualContentByteCount = actualContentByteCount
    self.archiveByteCount = archiveByteCount
    self.archiveByteCountLow = archiveByteCountLow
    self.archiveByteCountHigh = archiveByteCountHigh
    self.actualArchiveByteCount = actualArchiveByteCount
    self.seconds = seconds
    self.actualSeconds = actualSeconds
    self.ownSeconds = ownSeconds
    contentErrorPercent = Self.error(contentByteCount, actualContentByteCount)
    archiveErrorPercent = Self.error(archiveByteCount, actualArchiveByteCount)
    isWithinBounds = (archiveByteCountLow...max(archiveByteCountLow, archiveByteCountHigh)).contains(
      actualArchiveByteCount)
    if let actualSeconds, actualSeconds > 0 {
      estimatedBytesPerSecond = Double(contentByteCount) / actualSeconds
      actualBytesPerSecond = Double(actualContentByteCount) / actualSeconds
      secondsErrorPercent = (seconds / actualSeconds - 1) * 100
    }
  }

  /// Predicted over actual, less one, in per cent.
  package var contentErrorPercent: Double
  package var archiveErrorPercent: Double
  /// Whether the archive's size lies between the bounds.
  package var isWithinBounds: Bool
  /// Throughput of creating, of estimated and of actual content bytes.
  package var estimatedBytesPerSecond: Double?
  package var actualBytesPerSecond: Double?
  /// Predicted over actual seconds, less one, in per cent.
  package var secondsErrorPercent: Double?

  private static func error(_ predicted: UInt64, _ actual: UInt64) -> Double {
    actual > 0 ? (Double(predicted) / Double(actual) - 1) * 100 : predicted == 0 ? 0 : 100
  }
}

/// How near an operation comes to what the machine could do at best.
package struct LimitResult: Codable, Sendable {
  /// Which operation.
  package var operation: Operation
  /// The same chunks compressed or decompressed from memory on all cores.
  package var codecSeconds: Double
  /// The same files opened and read, or made, on all cores, with nothing else.
  package var fileSeconds: Double
  /// Median of the operation.
  package var measuredSeconds: Double
  /// Sum of the two limits over what was measured.
  package var efficiency: Double

  /// Makes a result.
  package init(operation: Operation, codecSeconds: Double, fileSeconds: Double, measuredSeconds: Double) {
    self.operation = operation
    self.codecSeconds = codecSeconds
    self.fileSeconds = fileSeconds
    self.measuredSeconds = measuredSeconds
    efficiency = measuredSeconds > 0 ? (codecSeconds + fileSeconds) / measuredSeconds : 0
  }
}

/// Where a run spends its CPU time, and what that means for more cores.
package struct ProfileResult: Codable, Sendable {
  /// CPU time inside a part that happens in order.
  package struct Section: Codable, Sendable {
    package var name: String
    package var cpuSeconds: Double

    /// Makes a section.
    package init(name: String, cpuSeconds: Double) {
      self.name = name
      self.cpuSeconds = cpuSeconds
    }
  }

  /// One lane.
  package struct Lane: Codable, Sendable {
    package var cpuSeconds: Double
    package var waitSeconds: Double

    /// Makes a lane.
    package init(cpuSeconds: Double, waitSeconds: Double) {
      self.cpuSeconds = cpuSeconds
      self.waitSeconds = waitSeconds
    }
  }

  /// Which operation.
  package var operation: Operation
  /// What happens in order.
  package var sections: [Section]
  /// What happens beside each other.
  package var lanes: [Lane]
  /// CPU time in order over all CPU time.
  package var serialFraction: Double
  /// By Amdahl's law.
  package var speedUpOn16Cores: Double
  package var speedUpOn64Cores: Double

  /// Makes a result.
  package init(operation: Operation, sections: [Section], lanes: [Lane], serialFraction: Double) {
    self.operation = operation
    self.sections = sections
    self.lanes = lanes
    self.serialFraction = serialFraction
    speedUpOn16Cores = Amdahl.speedUp(serialFraction: serialFraction, cores: 16)
    speedUpOn64Cores = Amdahl.speedUp(serialFraction: serialFraction, cores: 64)
  }
}

/// How an operation grows with threads.
package struct ScalingResult: Codable, Sendable {
  /// One number of threads.
  package struct Point: Codable, Sendable {
    package var threadCount: Int
    package var seconds: Distribution
    /// Against the fewest threads, pair by pair.
    package var speedUp: PairedRatios?
    /// What Amdahl's law makes of the two times, with its spread: too noisy on few cores to be more than an indication.
    package var fittedSerialFraction: Distribution?
  }

  /// Which operation.
  package var operation: Operation
  /// By ascending number of threads.
  package var points: [Point]

  /// Compares our runs with different numbers of threads; nil with fewer than two of them.
  package init?(operation: Operation, ours: [(threadCount: Int, result: ProgramResult)]) {
    let ours = ours.sorted { $0.threadCount < $1.threadCount }
    guard ours.count > 1, let base = ours.first else { return nil }
    self.operation = operation
    points = ours.map { threadCount, result in
      var fits: [Double] = []
      if base.threadCount == 1 {
        let one = base.result.secondsByRound
        for (round, seconds) in result.secondsByRound {
          let fit = one[round].flatMap {
            Amdahl.serialFraction(oneThread: $0, manyThreads: seconds, threadCount: threadCount)
          }
          if let fit { fits.append(fit) }
        }
      }
      return Point(
        threadCount: threadCount, seconds: result.seconds,
        speedUp: PairedRatios(of: base.result.secondsByRound, over: result.secondsByRound),
        fittedSerialFraction: Distribution(fits))
    }
  }
}

/// What waiting until all is on the disk costs; no other program does that.
package struct SyncCost: Codable, Sendable {
  /// Which operation.
  package var operation: Operation
  /// Waiting.
  package var synced: Distribution
  /// Not waiting.
  package var unsynced: Distribution
  /// The first over the second, pair by pair.
  package var ratios: PairedRatios?

  /// Compares; nil without samples.
  package init?(operation: Operation, synced: [Sample], unsynced: [Sample]) {
    guard let with = Distribution(synced.map(\.seconds)), let without = Distribution(unsynced.map(\.seconds)) else {
      return nil
    }
    self.operation = operation
    self.synced = with
    self.unsynced = without
    ratios = PairedRatios(
      of: Dictionary(synced.map { ($0.round, $0.seconds) }) { first, _ in first },
      over: Dictionary(unsynced.map { ($0.round, $0.seconds) }) { first, _ in first })
  }
}
