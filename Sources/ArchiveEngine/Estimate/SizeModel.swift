internal import ArchiveFormat
internal import Glibc

/// From what was measured to what the archive will be. Pure arithmetic.
struct SizeModel {
  /// What every archive has.
  let fixedByteCount: UInt64
  let totals: PlannedTotals
  let chunkByteCount: Int
  /// The candidates are not all chunks, but an even choice of them.
  var isThinned = false

  /// Frame header and checksum.
  private static let frameOverheadByteCount = 14.0
  /// How far single chunks are from what pieces save in most trees: fonts that resemble each other saved a quarter.
  private static let chunkContextSpread = 0.1
  /// What a repetition compresses to, as a part of its size. Measured on copies of headers.
  private static let repetitionPart = 0.003
  /// Bytes of a page beside its members, and of a member in it: where no page was made. Measured on small trees.
  private static let assumedPageByteCount = 60.0
  private static let assumedRecordByteCount = 36.0

  init(fixedByteCount: UInt64, totals: PlannedTotals, chunkByteCount: Int) {
    self.fixedByteCount = fixedByteCount
    self.totals = totals
    self.chunkByteCount = chunkByteCount
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
  func predict(_ sample: ChunkSample, into estimate: inout SizeEstimate) {
    let frames = frames(sample)
    let pages = pages(sample)
    let known = Double(fixedByteCount + totals.tableByteCount + totals.largePageByteCount)
    let all = frames.sum + pages.sum + known
    // Tables and totals are counted in varints, whose lengths are assumed.
    let slack = 64 + frames.slack + pages.slack + Double(totals.tableByteCount + totals.largePageByteCount) * 0.15
    let width = 2.5 * frames.variance.squareRoot()
    estimate.archiveByteCount = UInt64(all.rounded())
    estimate.archiveByteCountLow = UInt64(max(Double(fixedByteCount), (all - width - slack).rounded(.down)))
    estimate.archiveByteCountHigh = UInt64((all + min(width, frames.roof) + slack).rounded(.up))
    estimate.sampledByteCount =
      sample.pieces.reduce(0) { $0 + UInt64($1.result?.contentByteCount ?? 0) }
      + sample.candidates.reduce(0) { $0 + ($1.measure == nil ? 0 : UInt64($1.tarByteCount)) }
  }

  /// How many times the candidates are the whole.
  private func scale(_ sample: ChunkSample) -> Double {
    let byteCount = sample.tarByteCount
    return isThinned && byteCount > 0 ? Double(totals.tarByteCount) / byteCount : 1
  }

  /// The data frames.
  private func frames(_ sample: ChunkSample) -> Value {
    var value = Value()
    if sample.isComplete {
      value.sum = sample.candidates.reduce(0.0) { $0 + Double($1.measure?.frameByteCount ?? 0) }
      value.slack = value.sum * 0.005 + 40 * Double(sample.candidates.count)
      return value
    }
    let scale = scale(sample)
    let surveys = sample.candidates.map(\.survey)
    var stored = 0.0
    for (candidate, survey) in zip(sample.candidates, surveys) where survey.isStored && candidate.tarByteCount > 0 {
      stored += Double(RawFrame.frameByteCount(contentByteCount: candidate.tarByteCount))
    }
    let fresh = scale * sample.candidates.reduce(0.0) { $0 + Double(sample.sampledByteCount($1)) }
    let all = scale * surveys.reduce(0.0) { $0 + Double($1.freshByteCount + $1.repeatByteCount) }
    let repeated = all - fresh
    let (part, variance) = compressedPart(sample.pieces)
    value.sum = fresh * part + Self.frameOverheadByteCount * Double(totals.chunkCount)
    let contextVariance =
      square(sample.pieces.first?.shape.contextSpread ?? 0) + square(Self.chunkContextSpread)
      / Double(max(1, totals.chunkCount))
    value.variance = fresh * fresh * variance + square(value.sum) * contextVariance
    // What does not repeat after all is content as any other.
    let equal = sample.repetitions.count { $0.isEqual ?? false }
    let count = Double(max(1, sample.repetitions.count))
    let unequalPart = Double(sample.repetitions.count - equal) / count
    value.sum += repeated * (unequalPart * part + (1 - unequalPart) * Self.repetitionPart)
    // As if two more had been looked at, one of each kind: few say little.
    let likely = (Double(sample.repetitions.count - equal) + 1) / (count + 2)
    value.variance += square(repeated * part) * likely * (1 - likely) / (count + 2)
    value.roof = max(0, fresh + repeated - value.sum)
    if isThinned { value.variance += thinningVariance(sample, part, scale) }
    value.sum += scale * stored
    // Of chunks that compress to nearly nothing the headers decide.
    value.slack = value.sum * 0.003 + 40 * Double(totals.chunkCount)
    return value
  }

  /// What the pieces compress to, as a part of their size, and the variance of that. Each byte is as likely to be in a piece as any other, so that all have the
  /// same weight.
  private func compressedPart(_ pieces: [SamplePiece]) -> (part: Double, variance: Double) {
    guard let shape = pieces.first?.shape else { return (1, 0) }
    // Smaller chunks show their pieces all that is before them.
    let log = log2(Double(chunkByteCount) / Double(shape.pastByteCount)) / log2(4_194_304 / Double(shape.pastByteCount))
    let saving = shape.contextSaving * min(1.5, max(0, log))
    let parts = pieces.compactMap(\.result).filter { $0.contentByteCount > 0 }.map { result in
      min(1, max(0, Double(result.frameByteCount) - Self.frameOverheadByteCount) / Double(result.contentByteCount))
        * (1 - saving)
    }
    guard parts.count > 1 else { return (parts.first ?? 1, 0.25) }
    let count = Double(parts.count)
    let mean = parts.reduce(0, +) / count
    // The pieces are evenly spaced and neighbours are alike, so that what differs between neighbours is what the sample may be off.
    var squares = 0.0
    for index in 1..<parts.count { squares += square(parts[index] - parts[index - 1]) }
    return (mean, squares / 2 / (count - 1) / count)
  }

  /// How far the chunks that were not candidates may be from those that were: in what is stored of them, since the rest is sampled anyway.
  private func thinningVariance(_ sample: ChunkSample, _ part: Double, _ scale: Double) -> Double {
    let mean = sample.candidates.reduce(0.0) { $0 + weight($1, part) } / Double(max(1, sample.candidates.count))
    let squares = sample.candidates.reduce(0.0) { $0 + square(weight($1, part) - mean) }
    return squares * max(0, 1 - 1 / scale) * scale * scale
  }

  private func weight(_ candidate: CandidateChunk, _ part: Double) -> Double {
    candidate.survey.isStored ? Double(candidate.tarByteCount) : Double(candidate.survey.freshByteCount) * part
  }

  /// The pages of groups, by their members.
  private func pages(_ sample: ChunkSample) -> Value {
    var (byteCount, memberCount) = (0.0, 0.0)
    var isComplete = !isThinned
    for candidate in sample.candidates where candidate.isGroup {
      guard let page = candidate.pageByteCount else {
        isComplete = false
        continue
      }
      byteCount += Double(page)
      memberCount += Double(candidate.memberCount)
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

  private func square(_ value: Double) -> Double { value * value }
}
