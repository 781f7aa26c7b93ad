/// How much an estimate may read and compress: so many times less than what creating the archive costs.
///
/// Costs are counted in bytes, one being what reading, hashing and compressing a byte takes, so that the same trees have the same budget on any machine, at
/// any level and on any day. What a member and a step of a walk cost in that unit was measured at level 3 (2026-11, two cores).
enum SampleBudget {
  /// Opening a file, asking for its attributes, and closing it.
  static let memberByteCount = 5000
  /// A step of the walk and the planning of a member.
  private static let walkByteCount = 1650
  /// Of the cost of creating, walk included: a tenth is what may be used.
  private static let share = 0.093

  /// What may be compressed in any case: some 30 ms on one core. A tree that is not larger is compressed as a whole.
  static func minimumByteCount(level: Int) -> Int { level <= 4 ? 9 << 20 : level <= 9 ? 2 << 20 : 1 << 20 }

  /// The pieces that may be compressed: wide ones where there can be many.
  static func pieces(_ totals: PlannedTotals, level: Int) -> (shape: PieceShape, count: Int) {
    let count = pieceCount(totals, .wide, level: level)
    return count >= wideCount ? (.wide, count) : (.narrow, pieceCount(totals, .narrow, level: level))
  }

  private static func pieceCount(_ totals: PlannedTotals, _ shape: PieceShape, level: Int) -> Int {
    let (entries, bytes) = (Double(totals.entryCount), Double(totals.tarByteCount))
    let all = share * (bytes + Double(memberByteCount) * entries) - Double(walkByteCount) * entries
    let budget = max(Double(minimumByteCount(level: level)), all)
    let fileCountPerByte = Double(totals.fileCount) / max(1, bytes)
    // A byte of the past costs a quarter of one that is compressed.
    let cost =
      Double(memberByteCount) * (1 + fileCountPerByte * Double(shape.byteCount + shape.pastByteCount))
      + Double(shape.byteCount) + Double(shape.pastByteCount) / 4
    return min(maximumPieceCount, max(minimumPieceCount, Int(budget / cost)))
  }

  /// From so many on what trees have in common decides more than chance.
  private static let wideCount = 160
  private static let minimumPieceCount = 24
  /// More would not be seen: other errors are larger then.
  private static let maximumPieceCount = 1024
}
