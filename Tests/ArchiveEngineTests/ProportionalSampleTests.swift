import TestSupport
import Testing

@testable import ArchiveEngine

/// The choice of chunks that are compressed for an estimate.
struct ProportionalSampleTests {
  private static func sizes(_ count: Int, seed: UInt64) -> [Double] {
    var random = SplitMix64(seed: seed)
    return (0..<count).map { _ in Double(1 + random.next() % 1000) }
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func costsWhatItMay(seed: UInt64) {
    print("seed \(seed)")
    let sizes = Self.sizes(200, seed: seed)
    let sample = ProportionalSample(sizes: sizes, costs: sizes, budget: 20_000, minimumCount: 2, start: 0.5)
    let expected = zip(sample.chances, sizes).reduce(0.0) { $0 + $1.0 * $1.1 }
    #expect(expected <= 20_000 && expected > 19_000)
    #expect(sample.chances.allSatisfy { $0 > 0 && $0 <= 1 })
    let sum = sample.chances.reduce(0, +)
    #expect(abs(Double(sample.chosen.count) - sum) <= 1)
    #expect(sample.chosen == sample.chosen.sorted())
    #expect(Set(sample.chosen).count == sample.chosen.count)
  }

  /// Over all starts every unit comes as often as its chance says: that is what makes the estimate right on average.
  @Test func everyUnitComesAsOftenAsItsChance() {
    let sizes = Self.sizes(50, seed: 9) + [20_000]
    var counts = [Int](repeating: 0, count: sizes.count)
    let runs = 1000
    var chances: [Double] = []
    for run in 0..<runs {
      let sample = ProportionalSample(
        sizes: sizes, costs: [Double](repeating: 1, count: sizes.count), budget: 10, minimumCount: 1,
        start: Double(run) / Double(runs))
      chances = sample.chances
      for index in sample.chosen { counts[index] += 1 }
    }
    #expect(chances.last == 1)
    for index in sizes.indices {
      #expect(abs(Double(counts[index]) / Double(runs) - chances[index]) < 0.003, "unit \(index)")
    }
  }

  @Test func edges() {
    let none = ProportionalSample(sizes: [], costs: [], budget: 5, minimumCount: 2, start: 0.5)
    #expect(none.chosen.isEmpty)
    let all = ProportionalSample(sizes: [1, 2, 3], costs: [1, 1, 1], budget: 3, minimumCount: 2, start: 0.5)
    #expect(all.chosen == [0, 1, 2])
    #expect(all.chances == [1, 1, 1])
    let minimum = ProportionalSample(sizes: [1, 1, 1, 1], costs: [9, 9, 9, 9], budget: 0, minimumCount: 2, start: 0.5)
    #expect(minimum.chosen.count == 2)
  }
}
