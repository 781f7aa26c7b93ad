internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

/// What the estimator says about a directory.
struct EstimateCall: Codable {
  var contentByteCount: UInt64
  var archiveByteCount: UInt64
  var archiveByteCountLow: UInt64
  var archiveByteCountHigh: UInt64
  /// Predicted for creating.
  var seconds: Double
  /// What the call took.
  var ownSeconds: Double

  /// Asks it.
  static func run(
    _ path: String, threadCount: Int, level: Int, _ cancellation: CancellationToken
  ) throws(Failure) -> EstimateCall {
    let start = ContinuousClock.now
    var options = WriterOptions()
    options.threadCount = threadCount
    options.level = level
    let name = Array(path.utf8)
    let estimate = try engine(about: name) { () throws(ArchiveError) in
      let estimator = try SizeEstimator(options: options, cancellation: cancellation)
      try estimator.addTree(at: name, as: [0x2E])
      return try estimator.finish()
    }
    return EstimateCall(
      contentByteCount: estimate.contentByteCount, archiveByteCount: estimate.archiveByteCount,
      archiveByteCountLow: estimate.archiveByteCountLow, archiveByteCountHigh: estimate.archiveByteCountHigh,
      seconds: estimate.seconds, ownSeconds: (ContinuousClock.now - start) / .seconds(1))
  }
}
