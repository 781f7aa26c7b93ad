import TestSupport
import Testing

@testable import ArchiveEngine

/// The parts of which an estimate consists.
@Suite struct EstimateSampleTests {
  @Test func positionsAreEvenAndEachPartHasItsShare() {
    for seed in 0..<50 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let sizes = (0..<Int(1 + random.next() % 40)).map { _ in Int(random.next() % 3 == 0 ? 0 : random.next() % 100_000)
      }
      let all = sizes.reduce(0, +)
      let count = Int(1 + random.next() % 200)
      let places = EvenSample(byteCounts: sizes, count: count).places
      #expect(places.count == (all > 0 ? count : 0), "seed \(seed)")
      for place in places { #expect(place.offset >= 0 && place.offset < sizes[place.part], "seed \(seed)") }
      for (part, size) in sizes.enumerated() where all > 0 {
        let share = Double(count) * Double(size) / Double(all)
        let found = Double(places.count { $0.part == part })
        #expect(abs(found - share) < 1.0001, "seed \(seed), part \(part)")
      }
    }
    #expect(EvenSample(byteCounts: [], count: 4).places.isEmpty)
    #expect(EvenSample(byteCounts: [0, 0], count: 4).places.isEmpty)
    #expect(EvenSample(byteCounts: [10], count: 0).places.isEmpty)
  }

  @Test func piecesBeginAtMultiplesOfTheirSize() {
    let chunk = CandidateChunk(.group([]))
    for offset in [0, 1, 65_535, 65_536, 200_000] {
      let piece = SamplePiece(chunk, .wide, leavesOutRepetitions: true, at: offset)
      #expect(piece.offset % piece.shape.byteCount == 0)
      #expect(piece.offset <= offset && offset < piece.offset + piece.shape.byteCount)
    }
  }
}
