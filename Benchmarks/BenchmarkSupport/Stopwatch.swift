internal import Glibc

/// Time that has passed since it was made.
public struct Stopwatch: Sendable {
  private let start = Stopwatch.now()

  /// Starts.
  public init() {}

  /// Since the start.
  public var nanoseconds: UInt64 { Stopwatch.now() - start }

  /// Since the start.
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  private static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
