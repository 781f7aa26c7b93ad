internal import BenchmarkKit

/// The tool of this package.
struct Starc: Program {
  /// Path of the executable.
  let executable: String

  var name: String { "starc" }
  var executables: [String] { [executable] }
  var needsDirectory: Bool { false }

  func pipeline(_ operation: Operation, _ job: Job) -> Pipeline? {
    let quiet = ["--quiet", "--threads", job.threads]
    let sync = job.conditions.syncs ? [] : ["--no-sync"]
    switch operation {
    case .create:
      let level = job.level == 3 ? [] : ["--level", String(job.level)]
      return Pipeline(stages: [
        [executable, "create"] + quiet + sync + level + [job.archive, "-C", job.corpus, "."]
      ])
    case .extract: return Pipeline(stages: [[executable, "extract"] + quiet + sync + [job.archive, job.tree]])
    case .verify: return Pipeline(stages: [[executable, "verify"] + quiet + [job.archive]])
    case .quickVerify: return Pipeline(stages: [[executable, "verify", "--quick"] + quiet + [job.archive]])
    case .list: return Pipeline(stages: [[executable, "list"] + quiet + [job.archive]])
    case .cat: return Pipeline(stages: [[executable, "cat", job.archive, "--", job.member]])
    case .estimate, .export, .import: return nil
    }
  }
}
