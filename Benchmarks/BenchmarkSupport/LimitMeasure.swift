/// The least time that a part of a run can take on this machine, measured without the rest of the run.
public struct LimitMeasure: Sendable {
  /// What it took, with all threads at work.
  public var seconds: Double
  /// Threads that worked.
  public var threadCount: Int
  /// Bytes of content that went through, to be compared with the run's own account.
  public var byteCount: UInt64
  /// Chunks, or files.
  public var itemCount: Int

  /// Makes a measure from its parts.
  public init(seconds: Double, threadCount: Int, byteCount: UInt64, itemCount: Int) {
    self.seconds = seconds
    self.threadCount = threadCount
    self.byteCount = byteCount
    self.itemCount = itemCount
  }
}
