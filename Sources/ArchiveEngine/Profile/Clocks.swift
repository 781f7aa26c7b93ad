internal import Glibc

/// The two clocks of a profile, in nanoseconds.
enum Clocks {
  /// Processor time of the calling thread.
  static var threadNanoseconds: UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

  /// Time that passes, whatever the thread does.
  static var monotonicNanoseconds: UInt64 { read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
