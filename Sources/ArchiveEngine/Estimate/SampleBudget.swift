/// How much an estimate may read and compress: so many times less than what creating the archive costs.
///
/// Costs are counted in bytes, one being what reading, hashing and compressing a byte takes, so that the same trees have the same budget on any machine, at
/// any level and on any day. What a member and a step of a walk cost in that unit was measured at level 3 (2026-11, two cores).
enum SampleBudget {
  /// Opening a file, asking for its attributes, and closing it.
  static let memberByteCount = 5000
  /// A step of the walk and the planning of a member. Two threads share it, and leave little of two cores to the looks.
  private static let walkByteCount = 1000
  /// A look at a chunk: 16 places, each with a file to open.
  private static let lookByteCount = 100_000
  /// Of the cost of creating: a tenth is what may be used, and other things than sampling take their part.
  private static let share = 0.08

  /// What may be compressed in any case: some 30 ms on one core. A tree that is not larger is compressed as a whole.
  static func minimumByteCount(level: Int) -> Int { level <= 4 ? 9 << 20 : level <= 9 ? 2 << 20 : 1 << 20 }

  /// Bytes of chunks that may be compressed, `lookCount` chunks having been looked at.
  static func byteCount(_ totals: PlannedTotals, lookCount: Int, level: Int) -> Double {
    let all = share * (Double(totals.tarByteCount) + Double(memberByteCount) * Double(totals.entryCount))
    let walk = Double(walkByteCount) * Double(totals.entryCount)
    let looks = Double(lookByteCount) * Double(lookCount)
    // Looks fill the core that the walk leaves free.
    return max(Double(minimumByteCount(level: level)), all - max(walk, walk / 2 + looks))
  }
}
