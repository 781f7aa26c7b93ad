/// From what was measured to what the archive will be. Pure arithmetic.
struct SizeModel {
  /// What every archive has.
  let fixedByteCount: UInt64
  let totals: PlannedTotals
  /// The units are not all chunks, but an even sample of them.
  var isThinned = false

  /// How far the frames of chunks that look the same may be apart, as a part of their mean and of what looks say that they save: assumed where few
  /// were measured. Guessed, from trees of documents and headers; it widens the bounds and changes nothing else.
  private static let assumedSpread = 0.3
  /// Bytes of a page beside its members, and of a member in it: where no page was made. Measured on small trees.
  private static let assumedPageByteCount = 60.0
  private static let assumedRecordByteCount = 36.0

  init(fixedByteCount: UInt64, totals: PlannedTotals) {
    self.fixedByteCount = fixedByteCount
    self.totals = totals
  }

  /// A number and how far off it may be.
  private struct Value {
    var sum = 0.0
    /// The variance that sampling gives it.
    var variance = 0.0
    /// What it may be off beyond that.
    var slack = 0.0
    /// How much larger it can be at all: what does not shrink is stored.
    var roof = Double.infinity
  }

  /// Fills in sizes and bounds.
  func predict(_ units: [SampleUnit], into estimate: inout SizeEstimate) {
    let frames = frames(units)
    let pages = pages(units)
    let known = Double(fixedByteCount + totals.tableByteCount + totals.largePageByteCount)
    let all = frames.sum + pages.sum + known
    // Tables and totals are counted in varints, whose lengths are assumed.
    let slack = 64 + frames.slack + pages.slack + Double(totals.tableByteCount + totals.largePageByteCount) * 0.15
    let measuredCount = Double(units.count(where: { $0.measure != nil && $0.chance < 1 }))
    // Few measurements do not show their own spread well.
    let width = 2.5 * (1 + 1 / max(1, measuredCount)) * frames.variance.squareRoot()
    estimate.archiveByteCount = UInt64(all.rounded())
    estimate.archiveByteCountLow = UInt64(max(Double(fixedByteCount), (all - width - slack).rounded(.down)))
    estimate.archiveByteCountHigh = UInt64((all + min(width, frames.roof) + slack).rounded(.up))
    estimate.sampledByteCount = units.reduce(UInt64(0)) { $0 + ($1.measure == nil ? 0 : UInt64($1.tarByteCount)) }
  }

  /// How many times the units are the whole.
  private func scale(_ units: [SampleUnit]) -> Double {
    let byteCount = units.reduce(0.0) { $0 + Double($1.tarByteCount) }
    return isThinned && byteCount > 0 ? Double(totals.tarByteCount) / byteCount : 1
  }

  /// The data frames: those that are known, and the others by the ratio between what was measured and what looks had said.
  private func frames(_ units: [SampleUnit]) -> Value {
    var value = Value()
    var (unknownSize, unknownTarByteCount) = (0.0, 0.0)
    var ratios: [(ratio: Double, chance: Double)] = []
    for unit in units {
      if unit.chance >= 1, let byteCount = unit.frameByteCount {
        value.sum += byteCount
        continue
      }
      guard let size = unit.size else { continue }
      unknownSize += size
      unknownTarByteCount += Double(unit.tarByteCount)
      // Chances are proportional to sizes, so that every ratio has the same weight.
      if let measure = unit.measure { ratios.append((Double(measure.frameByteCount) / size, unit.chance)) }
    }
    let count = Double(ratios.count)
    let mean = count > 0 ? ratios.reduce(0.0) { $0 + $1.ratio } / count : 1
    value.sum += mean * unknownSize
    let squares = ratios.reduce(0.0) { $0 + ($1.ratio - mean) * ($1.ratio - mean) }
    let saved = max(0, 1 - unknownSize / max(1, unknownTarByteCount))
    let assumed = Self.assumedSpread * mean * saved
    let spread = (squares + 2 * assumed * assumed) / (count + 1)
    let unseen = count > 0 ? ratios.reduce(0.0) { $0 + 1 - $1.chance } / count : 1
    value.variance = unknownSize * unknownSize * spread * unseen / max(1, count)
    value.roof = max(0, unknownTarByteCount - mean * unknownSize)
    // Of chunks that compress to nearly nothing the headers decide.
    value.slack = unknownSize * mean * 0.005 + 40 * Double(units.count)
    if isThinned { addThinning(units, to: &value) }
    return value
  }

  /// What chunks that were not candidates add, and how much they may differ from those that were.
  private func addThinning(_ units: [SampleUnit], to value: inout Value) {
    let scale = scale(units)
    let ratio = value.sum / max(1, units.reduce(0.0) { $0 + Double($1.tarByteCount) })
    var squares = 0.0
    for unit in units {
      let byteCount = unit.size ?? unit.frameByteCount ?? 0
      let difference = byteCount - ratio * Double(unit.tarByteCount)
      squares += difference * difference
    }
    value.sum *= scale
    value.slack *= scale
    value.roof = .infinity
    value.variance = (value.variance + squares * (1 - 1 / scale)) * scale * scale
  }

  /// The pages of groups, by their members.
  private func pages(_ units: [SampleUnit]) -> Value {
    var (byteCount, memberCount) = (0.0, 0.0)
    var isComplete = !isThinned
    for unit in units where unit.isGroup {
      guard let page = unit.measure?.pageByteCount else {
        isComplete = false
        continue
      }
      byteCount += Double(page) / unit.chance
      memberCount += Double(unit.memberCount) / unit.chance
    }
    if isComplete { return Value(sum: byteCount) }
    var value = Value()
    value.sum =
      memberCount > 0
      ? byteCount / memberCount * Double(totals.groupMemberCount)
      : Self.assumedPageByteCount * Double(totals.groupCount)
        + Self.assumedRecordByteCount * Double(totals.groupMemberCount)
    value.slack = value.sum * (memberCount > 0 ? 0.1 : 0.4)
    return value
  }
}
