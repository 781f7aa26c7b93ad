import BenchmarkKit
import Testing

@Suite struct StatisticsTests {
  @Test func percentilesLieBetweenNeighbours() throws {
    let spread = try #require(Distribution([4, 1, 3, 2]))
    #expect(spread == Distribution([1, 2, 3, 4]))
    #expect(spread.minimum == 1 && spread.maximum == 4 && spread.count == 4)
    #expect(spread.p50 == 2.5)
    #expect(abs(spread.p90 - 3.7) < 1e-12)
  }

  @Test func oneSampleIsEveryPercentile() throws {
    let spread = try #require(Distribution([7]))
    #expect([spread.minimum, spread.p50, spread.p90, spread.maximum] == [7, 7, 7, 7])
  }

  @Test(arguments: [[], [Double.nan], [1, .infinity]]) func whatIsNoNumberHasNoDistribution(samples: [Double]) {
    #expect(Distribution(samples) == nil)
  }

  @Test func percentilesOfManySeedsAreOrderedAndAmongTheSamples() throws {
    for seed in UInt64(1)...200 {
      var random = SeededRandom(seed: seed)
      let samples = (0..<(1 + random.below(30))).map { _ in Double(random.below(1000)) }
      let spread = try #require(Distribution(samples), "seed \(seed)")
      #expect(spread.minimum <= spread.p50 && spread.p50 <= spread.p90 && spread.p90 <= spread.maximum, "seed \(seed)")
      let below = samples.filter { $0 <= spread.p50 }.count
      #expect(2 * below >= samples.count, "seed \(seed)")
    }
  }

  @Test func ratiosAreTakenRoundByRound() throws {
    // Round 2 was slow for both; the medians' ratio would be another.
    let ratios = try #require(PairedRatios(of: [1: 2, 2: 30, 3: 3, 9: 1], over: [1: 1, 2: 20, 3: 2, 4: 5]))
    #expect(ratios.pairs == [2, 1.5, 1.5])
    #expect(ratios.median == 1.5 && ratios.minimum == 1.5 && ratios.maximum == 2)
    #expect(ratios.verdict == .win)
  }

  @Test func lossesAndTiesAreCalledSo() throws {
    #expect(try #require(PairedRatios(of: [1: 1, 2: 1], over: [1: 2, 2: 3])).verdict == .loss)
    #expect(try #require(PairedRatios(of: [1: 1, 2: 4], over: [1: 2, 2: 3])).verdict == .tie)
    #expect(PairedRatios(of: [1: 1], over: [2: 1]) == nil)
    #expect(PairedRatios(of: [1: 1], over: [1: 0]) == nil)
  }

  @Test func amdahlPredictsWhatItIsFittedFrom() throws {
    #expect(Amdahl.speedUp(serialFraction: 0, cores: 16) == 16)
    #expect(Amdahl.speedUp(serialFraction: 1, cores: 64) == 1)
    #expect(abs(Amdahl.speedUp(serialFraction: 0.03, cores: 64) - 1 / (0.03 + 0.97 / 64)) < 1e-12)
    for fraction in [0, 0.01, 0.2, 0.9] {
      for cores in [2, 3, 16] {
        let many = 10 / Amdahl.speedUp(serialFraction: fraction, cores: cores)
        let fit = try #require(Amdahl.serialFraction(oneThread: 10, manyThreads: many, threadCount: cores))
        #expect(abs(fit - fraction) < 1e-9)
      }
    }
    #expect(Amdahl.serialFraction(oneThread: 1, manyThreads: 1, threadCount: 1) == nil)
  }
}
