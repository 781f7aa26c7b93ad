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
    throw .failed("estimate: not there")
  }
}
