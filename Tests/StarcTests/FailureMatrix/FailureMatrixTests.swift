internal import Foundation
internal import TestSupport
internal import Testing

/// Every kind of failure, looked at in every way: what the ways say of one archive agrees, and is what the tables state.
@Suite struct FailureMatrixTests {
  private static let shardCount = 4
  private static let seed: UInt64 = 7

  /// All pairs of (case, way, form, file or pipe, threads, user).
  @Test(arguments: 0..<shardCount) func pairs(_ shard: Int) throws {
    let cases = FailureMatrix.cases
    let rows = CoveringSelection(levels: MatrixSetting.levels(caseCount: cases.count), seed: Self.seed).rows
    let stage = try MatrixStage()
    for number in cases.indices where number % Self.shardCount == shard {
      stage.begin(cases[number])
      for row in rows where row[0] == number { try stage.look(MatrixSetting(row: row)) }
    }
    #expect(stage.runCount > 0)
    for fault in stage.faults { Issue.record("\(fault) (seed \(Self.seed))") }
  }

  /// The whole matrix, which takes long: `Tools/failure-matrix`.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["STARC_FAILURE_MATRIX"] != nil), arguments: 0..<2)
  func everything(_ shard: Int) throws {
    let wanted = ProcessInfo.processInfo.environment["STARC_FAILURE_MATRIX"] ?? ""
    let stage = try MatrixStage()
    var count = 0
    for (number, mode) in FailureMatrix.cases.enumerated() where number % 2 == shard {
      guard wanted == "all" || mode.testDescription.contains(wanted) else { continue }
      count += 1
      stage.begin(mode)
      let before = stage.faults.count
      for setting in MatrixSetting.all where stage.isDistinct(setting) { try stage.look(setting) }
      let found = stage.faults.count - before
      print("failure-matrix: \(found == 0 ? "ok    " : "FAULTS") \(mode.testDescription)")
    }
    print("failure-matrix: part \(shard): \(count) cases, \(stage.runCount) runs, \(stage.faults.count) faults")
    for fault in stage.faults { Issue.record("\(fault)") }
  }

  @Test func everyCaseHasItsOwnName() {
    let names = FailureMatrix.cases.map(\.testDescription)
    for name in Set(names) where names.filter({ $0 == name }).count > 1 { Issue.record("\(name) is there twice") }
    #expect(names.count > 200)
  }

  /// The selection tries all pairs and is no larger than it has to be.
  @Test(arguments: [[5, 3, 2], [40, 7, 4, 2, 3, 2], [1, 1, 1], [2, 2], [3, 3, 3, 3, 3]], [1, 2] as [UInt64])
  func selectionCoversAllPairs(_ levels: [Int], _ seed: UInt64) {
    let rows = CoveringSelection(levels: levels, seed: seed).rows
    for left in levels.indices {
      for right in levels.indices where left < right {
        let pairs = Set(rows.map { $0[left] * levels[right] + $0[right] })
        #expect(pairs.count == levels[left] * levels[right], "factors \(left) and \(right), seed \(seed)")
      }
    }
    let largest = levels.sorted().suffix(2).reduce(1, *)
    #expect(rows.count >= largest && rows.count <= largest * 2, "\(rows.count) rows, seed \(seed)")
    #expect(rows.allSatisfy { row in row.indices.allSatisfy { row[$0] < levels[$0] } })
  }
}
