internal import ArchiveIO

/// How long writing will take, from what the sample took.
struct TimeModel {
  /// Time of all lanes together.
  private let laneSeconds: Double
  private let walkSeconds: Double

  /// Seconds that writing a byte of the archive takes: a copy into the page cache. Guessed.
  private static let secondsPerOutputByte = 1e-9
  /// Seconds for starting and ending. Measured.
  private static let fixedSeconds = 0.003

  init(_ sample: ChunkSample, totals: PlannedTotals, walkSeconds: Double) {
    self.walkSeconds = walkSeconds
    if sample.isComplete {
      laneSeconds = sample.candidates.reduce(0.0) { $0 + ($1.measure?.seconds ?? 0) }
    } else {
      let results = sample.pieces.compactMap(\.result)
      let content = results.reduce(0.0) { $0 + Double($1.contentByteCount) }
      let compression = results.reduce(0.0) { $0 + $1.compressionSeconds }
      let read = results.reduce(0.0) { $0 + $1.readSeconds }
      let readBytes = results.reduce(0.0) { $0 + Double($1.readByteCount) }
      let files = results.reduce(0.0) { $0 + Double($1.fileCount) }
      // Opening a file takes as long as reading some kilobytes of it.
      let unit = read / max(1, readBytes + files * Self.openByteCount)
      let stored = sample.candidates.filter(\.survey.isStored)
      let storedPart = stored.reduce(0.0) { $0 + Double($1.tarByteCount) } / max(1, sample.tarByteCount)
      let measured = stored.filter { $0.measure != nil }
      let storedSeconds = measured.reduce(0.0) { $0 + ($1.measure?.seconds ?? 0) }
      let storedBytes = measured.reduce(0.0) { $0 + Double($1.tarByteCount) }
      let bytes = Double(totals.tarByteCount)
      laneSeconds =
        storedPart * bytes * storedSeconds / max(1, storedBytes)
        + (1 - storedPart)
        * (bytes * compression / max(1, content)
          + unit * (bytes + Double(totals.fileCount) * Self.openByteCount))
    }
  }

  /// What is read in the time that opening and closing a file takes. Measured (warm cache).
  private static let openByteCount = 30_000.0

  /// Wall time with so many lanes.
  func seconds(archiveByteCount: UInt64, laneCount: Int) -> Double {
    let output = Double(archiveByteCount) * Self.secondsPerOutputByte
    let cores = Double(ProcessFacts.availableCores)
    // Walk and output have threads of their own, and share the cores with the lanes.
    let busy = (laneSeconds + walkSeconds + output) / cores
    return Self.fixedSeconds + max(laneSeconds / Double(laneCount), walkSeconds, busy)
  }
}
