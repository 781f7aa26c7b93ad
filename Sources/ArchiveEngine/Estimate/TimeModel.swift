internal import ArchiveIO

/// How long writing will take, from what measuring the sample took.
struct TimeModel {
  /// Time of all lanes together.
  private(set) var laneSeconds = 0.0
  private let walkSeconds: Double

  /// Seconds that writing a byte of the archive takes: a copy into the page cache. Guessed.
  private static let secondsPerOutputByte = 1e-9
  /// Seconds for starting and ending. Measured.
  private static let fixedSeconds = 0.003

  init(_ units: [SampleUnit], totals: PlannedTotals, walkSeconds: Double) {
    self.walkSeconds = walkSeconds
    // What is stored takes much less time than what is compressed.
    for isCompressed in [false, true] {
      var (seconds, measuredWork, work) = (0.0, 0.0, 0.0)
      for unit in units where (unit.size != nil) == isCompressed {
        work += unit.work
        guard let measure = unit.measure else { continue }
        seconds += measure.seconds / unit.chance
        measuredWork += unit.work / unit.chance
      }
      if measuredWork > 0 { laneSeconds += seconds / measuredWork * work }
    }
    let seen = units.reduce(0.0) { $0 + Double($1.tarByteCount) }
    if seen > 0 { laneSeconds *= max(1, Double(totals.tarByteCount) / seen) }
  }

  /// Wall time with so many lanes.
  func seconds(archiveByteCount: UInt64, laneCount: Int) -> Double {
    let output = Double(archiveByteCount) * Self.secondsPerOutputByte
    let cores = Double(ProcessFacts.availableCores)
    // Walk and output have threads of their own, and share the cores with the lanes.
    let busy = (laneSeconds + walkSeconds + output) / cores
    return Self.fixedSeconds + max(laneSeconds / Double(laneCount), walkSeconds, busy)
  }
}
