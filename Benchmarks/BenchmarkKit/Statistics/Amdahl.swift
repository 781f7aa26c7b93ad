/// What part of a run that cannot be spread over cores leaves of their number.
package enum Amdahl {
  /// How many times faster `cores` are than one when `serialFraction` of the work stays on one.
  package static func speedUp(serialFraction: Double, cores: Int) -> Double {
    let serial = min(max(serialFraction, 0), 1)
    return 1 / (serial + (1 - serial) / Double(max(cores, 1)))
  }

  /// The serial fraction that would explain two wall times; nil for fewer than two threads.
  ///
  /// Noise makes it negative or larger than 1: it is shown as it is, with its spread.
  package static func serialFraction(oneThread: Double, manyThreads: Double, threadCount: Int) -> Double? {
    guard threadCount > 1, oneThread > 0 else { return nil }
    let share = 1 / Double(threadCount)
    return (manyThreads / oneThread - share) / (1 - share)
  }
}
