/// A systematic sample in which a unit's chance is proportional to its size: a comb with even gaps is laid over the units in order, each as
/// wide as its chance, so that the sample is spread over the whole. Units so large that they would come more than once are taken for certain.
struct ProportionalSample {
  /// Each unit's chance to be in the sample, 0...1.
  let chances: [Double]
  /// The units in the sample, ascending.
  let chosen: [Int]

  /// - Parameters:
  ///   - sizes: positive sizes in the order in which neighbours are alike.
  ///   - costs: what taking a unit costs.
  ///   - budget: the expected cost of the sample.
  ///   - minimumCount: units to take even when that costs more.
  ///   - start: where in its first gap the comb begins, 0..<1.
  init(sizes: [Double], costs: [Double], budget: Double, minimumCount: Int, start: Double) {
    var (low, high) = (Double(min(minimumCount, sizes.count)), Double(sizes.count))
    if costs.reduce(0.0, +) <= budget {
      low = high
    } else {
      // The expected cost grows with the number of units: the number is found by halving.
      for _ in 0..<40 {
        let middle = (low + high) / 2
        let chances = Self.chances(sizes, count: middle)
        let cost = zip(chances, costs).reduce(0.0) { $0 + $1.0 * $1.1 }
        if cost <= budget { low = middle } else { high = middle }
      }
    }
    chances = Self.chances(sizes, count: low)
    var position = start
    var chosen: [Int] = []
    for (index, chance) in chances.enumerated() {
      if chance >= 1 {
        chosen.append(index)
        continue
      }
      position += chance
      if position >= 1 {
        position -= 1
        chosen.append(index)
      }
    }
    self.chosen = chosen
  }

  private static func chances(_ sizes: [Double], count: Double) -> [Double] {
    var chances = [Double](repeating: 0, count: sizes.count)
    var isCertain = [Bool](repeating: count >= Double(sizes.count), count: sizes.count)
    while true {
      var (rest, left) = (0.0, count)
      for index in sizes.indices { if isCertain[index] { left -= 1 } else { rest += sizes[index] } }
      var isSettled = true
      for index in sizes.indices {
        chances[index] = isCertain[index] ? 1 : rest > 0 ? max(0, left) * sizes[index] / rest : 0
        if !isCertain[index], chances[index] >= 1 {
          isCertain[index] = true
          isSettled = false
        }
      }
      if isSettled { return chances }
    }
  }
}
