internal import Foundation
internal import TestSupport
internal import Testing

/// What GNU tar and bsdtar make of the same archives, as a table: `Tools/failure-matrix --others`. Nothing is expected of them.
@Suite struct MatrixOthers {
  @Test(.enabled(if: ProcessInfo.processInfo.environment["STARC_FAILURE_MATRIX_OTHERS"] != nil))
  func table() throws {
    let stage = try FailureModeStage()
    var (same, gnuMore, bsdMore) = (0, 0, 0)
    print("failure-matrix: | case | here, strict | lenient | GNU tar | bsdtar |")
    print("failure-matrix: | --- | --- | --- | --- | --- |")
    for mode in FailureMatrix.cases {
      try stage.write(mode.archive(stage.path + "/outside"), "f")
      let gnu = try run(stage, ["tar", "--warning=no-timestamp", "-xf", "f", "-C", "out"])
      let bsd = try run(stage, ["bsdtar", "-xf", "f", "-C", "out"])
      let tree: [String]? = if case .leaves(_, let tree) = mode.lenient { tree } else { nil }
      func cell(_ other: (status: Int32, tree: [String])) -> String {
        if other.tree == tree ?? [] { return "\(other.status), the same" }
        let more = other.tree.filter { !(tree ?? []).contains($0) }
        let less = (tree ?? []).filter { !other.tree.contains($0) }
        return "\(other.status)" + (more.isEmpty ? "" : ", also \(more)") + (less.isEmpty ? "" : ", not \(less)")
      }
      if gnu.tree == tree ?? [], bsd.tree == tree ?? [] { same += 1 }
      if case .fails = mode.strict, gnu.status == 0 { gnuMore += 1 }
      if case .fails = mode.strict, bsd.status == 0 { bsdMore += 1 }
      let row = [mode.testDescription, text(mode.strict), text(mode.lenient), cell(gnu), cell(bsd)]
      let line = row.map { $0.replacingOccurrences(of: "|", with: "\\|").prefix(120) }.joined(separator: " | ")
      print("failure-matrix: | \(line.unicodeScalars.map { $0.value < 32 ? "·" : String($0) }.joined()) |")
    }
    print(
      "failure-matrix: \(FailureMatrix.cases.count) cases, \(same) with the same tree from all three; refused here and clean for GNU tar: \(gnuMore), for bsdtar: \(bsdMore)"
    )
  }

  private func text(_ outcome: FailureMode.Outcome) -> String {
    if case .leaves(let status, _) = outcome { "\(status)" } else { "2" }
  }

  private func run(_ stage: FailureModeStage, _ command: [String]) throws -> (status: Int32, tree: [String]) {
    try Shell.script("rm -rf out outside; mkdir out outside; printf K > outside/keep", directory: stage.path)
    let result = try Shell.run(["timeout", "10"] + command, directory: stage.path)
    let tree = try stage.tree() ?? []
    try Shell.script("chmod -R u+rwx out 2> /dev/null || true; rm -rf out", directory: stage.path)
    return (result.status, tree)
  }
}
