/// How two programs compare, taken round by round: what slows a whole round down cancels out.
package struct PairedRatios: Codable, Sendable, Equatable {
  /// The other program's value over ours, one for each round; above 1 ours is better where less is better.
  package let pairs: [Double]
  /// Their median.
  package let median: Double
  /// The worst for us.
  package let minimum: Double
  /// The best for us.
  package let maximum: Double

  /// Divides the values of the rounds that both have; nil when there is none.
  package init?(of others: [Int: Double], over ours: [Int: Double]) {
    let rounds = others.keys.filter { (ours[$0] ?? 0) > 0 }.sorted()
    pairs = rounds.compactMap { round in
      guard let other = others[round], let own = ours[round] else { return nil }
      return other / own
    }
    guard let spread = Distribution(pairs) else { return nil }
    median = spread.p50
    minimum = spread.minimum
    maximum = spread.maximum
  }

  /// How the comparison went. Where rounds disagree about who was faster nothing is claimed.
  package var verdict: Verdict { minimum > 1 ? .win : maximum < 1 ? .loss : .tie }

  /// Who was better.
  package enum Verdict: String, Codable, Sendable {
    /// Ours in every round.
    case win
    /// The other one in every round.
    case loss
    /// Not the same one in every round.
    case tie
  }
}
