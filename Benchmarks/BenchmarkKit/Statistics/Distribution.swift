/// Where the samples of one measurement lie.
package struct Distribution: Codable, Sendable, Equatable {
  /// How many samples there were.
  package let count: Int
  /// The smallest.
  package let minimum: Double
  /// The median.
  package let p50: Double
  /// Nine of ten are not above it.
  package let p90: Double
  /// The largest.
  package let maximum: Double

  /// Sums samples up; nil when there is none, or one that is no number.
  package init?(_ samples: [Double]) {
    guard !samples.isEmpty, samples.allSatisfy(\.isFinite) else { return nil }
    let sorted = samples.sorted()
    count = sorted.count
    minimum = sorted[0]
    p50 = Self.percentile(0.5, ofSorted: sorted)
    p90 = Self.percentile(0.9, ofSorted: sorted)
    maximum = sorted[sorted.count - 1]
  }

  /// The value below which a share of the samples lies, by linear interpolation between neighbours.
  ///
  /// - Parameter sorted: at least one sample, ascending.
  package static func percentile(_ share: Double, ofSorted sorted: [Double]) -> Double {
    let place = min(max(share, 0), 1) * Double(sorted.count - 1)
    let lower = Int(place)
    let upper = min(lower + 1, sorted.count - 1)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
  }
}
