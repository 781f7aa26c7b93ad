internal import BenchmarkKit

/// How many programs a run will start, for its progress.
struct Plan {
  /// About as many as will be started for measuring; checks and preparations are not counted.
  let runCount: UInt64

  init(_ configuration: RunConfiguration, _ tools: Toolbox, peers: [any Program], corpusCount: Int) {
    let programs: [any Program] = [tools.starc] + peers
    let job = Job(
      corpus: "", archive: "", tree: "", member: "", level: configuration.levelNumber,
      conditions: Conditions(threadCount: 1))
    var contestants = 0
    for operation in configuration.chosen {
      let able = programs.count { $0.pipeline(operation, job) != nil }
      switch operation {
      case .create, .extract:
        contestants += able * configuration.threadCounts.count
        if configuration.coldDirectory != nil { contestants += able + 2 }
      case .estimate: contestants += 1
      case .export, .import: contestants += tools.appmigrate == nil ? 0 : 2
      case .verify, .quickVerify, .list, .cat: contestants += able
      }
    }
    runCount = UInt64(max(1, contestants * (configuration.runCount + 1) * corpusCount))
  }
}
