internal import TestSupport

/// Rows that together try every pair of values of any two factors at least once, far fewer than all combinations.
struct CoveringSelection {
  /// For each row the value of each factor.
  private(set) var rows: [[Int]] = []
  private let levels: [Int]
  /// Place of the first pair of two factors, left below right.
  private var starts: [[Int]]
  private var isCovered: [Bool]

  /// - Parameters:
  ///   - levels: how many values each factor has; the first factor may have many.
  ///   - seed: which of the equally good values are taken.
  init(levels: [Int], seed: UInt64) {
    self.levels = levels
    starts = levels.map { _ in levels.map { _ in 0 } }
    var count = 0
    for left in levels.indices {
      for right in levels.indices where left < right {
        starts[left][right] = count
        count += levels[left] * levels[right]
      }
    }
    isCovered = Array(repeating: false, count: count)
    var random = SplitMix64(seed: seed)
    for left in levels.indices {
      for right in levels.indices where left < right {
        for first in 0..<levels[left] {
          for second in 0..<levels[right] where !isCovered[place(left, first, right, second)] {
            addRow(from: [left: first, right: second], &random)
          }
        }
      }
    }
  }

  private func place(_ left: Int, _ first: Int, _ right: Int, _ second: Int) -> Int {
    left < right
      ? starts[left][right] + first * levels[right] + second : starts[right][left] + second * levels[left] + first
  }

  /// Completes a row: every further factor takes the value that tries most new pairs with those that are fixed.
  private mutating func addRow(from given: [Int: Int], _ random: inout SplitMix64) {
    var row = given
    for factor in levels.indices where row[factor] == nil {
      var best: (value: Int, gain: Int) = (0, -1)
      let shift = Int(random.next() % UInt64(levels[factor]))
      for step in 0..<levels[factor] {
        let value = (step + shift) % levels[factor]
        var gain = 0
        for (other, fixed) in row where !isCovered[place(other, fixed, factor, value)] { gain += 1 }
        if gain > best.gain { best = (value, gain) }
      }
      row[factor] = best.value
    }
    let values = levels.indices.map { row[$0] ?? 0 }
    for left in values.indices {
      for right in values.indices where left < right {
        isCovered[place(left, values[left], right, values[right])] = true
      }
    }
    rows.append(values)
  }
}
