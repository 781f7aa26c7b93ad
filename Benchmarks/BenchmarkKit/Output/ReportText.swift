/// The report for a terminal.
package enum ReportText {
  /// All tables of all corpora.
  package static func text(_ report: BenchmarkReport) -> String {
    let parts = report.corpora.map(corpus) + [notes(report)]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private static func corpus(_ corpus: CorpusResult) -> String {
    var parts: [String] = []
    let size = NumberText.bytes(Double(corpus.contentByteCount))
    parts.append(
      "== \(corpus.name): \(NumberText.count(Double(corpus.entryCount))) entries, "
        + "\(NumberText.count(Double(corpus.fileCount))) files, \(size) (\(corpus.origin))\n")
    parts.append(estimate(corpus))
    parts.append(archives(corpus))
    for operations in grouped(corpus.operations) { parts.append(times(operations, corpus)) }
    parts.append(pairs(corpus))
    parts.append(limits(corpus))
    parts.append(profiles(corpus))
    parts.append(scaling(corpus))
    parts.append(syncCosts(corpus))
    parts.append(checks(corpus))
    return parts.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// Those under the same conditions, in the order of their first.
  package static func grouped(_ results: [OperationResult]) -> [[OperationResult]] {
    var groups: [[OperationResult]] = []
    for result in results {
      if let index = groups.firstIndex(where: { $0[0].conditions == result.conditions }) {
        groups[index].append(result)
      } else {
        groups.append([result])
      }
    }
    return groups
  }

  private static func estimate(_ corpus: CorpusResult) -> String {
    guard let estimate = corpus.estimate else { return "" }
    var table = TextTable(["estimate", "predicted", "actual", "error"])
    table.add([
      "content", bytes(estimate.contentByteCount), bytes(estimate.actualContentByteCount),
      NumberText.percent(estimate.contentErrorPercent, signed: true),
    ])
    table.add([
      "archive", bytes(estimate.archiveByteCount), bytes(estimate.actualArchiveByteCount),
      NumberText.percent(estimate.archiveErrorPercent, signed: true),
    ])
    if let actual = estimate.actualSeconds, let error = estimate.secondsErrorPercent {
      table.add([
        "time of create", NumberText.seconds(estimate.seconds), NumberText.seconds(actual),
        NumberText.percent(error, signed: true),
      ])
    }
    if let estimated = estimate.estimatedBytesPerSecond, let actual = estimate.actualBytesPerSecond {
      table.add(["throughput", NumberText.rate(estimated), NumberText.rate(actual), ""])
    }
    return table.text + "the archive lies \(estimate.isWithinBounds ? "within" : "OUTSIDE") the predicted bounds "
      + "\(bytes(estimate.archiveByteCountLow)) to \(bytes(estimate.archiveByteCountHigh)); "
      + "the estimate took \(NumberText.seconds(estimate.ownSeconds))\n"
  }

  private static func archives(_ corpus: CorpusResult) -> String {
    var table = TextTable(["archive", "bytes", "frames", "index", "ratio"])
    for archive in corpus.archives {
      table.add([
        archive.program, NumberText.count(Double(archive.archiveByteCount)), bytes(archive.frameByteCount),
        archive.indexByteCount > 0 ? bytes(archive.indexByteCount) : "-", archive.ratio.map(NumberText.digits) ?? "-",
      ])
    }
    return table.isEmpty ? "" : table.text
  }

  private static func times(_ results: [OperationResult], _ corpus: CorpusResult) -> String {
    var table = TextTable([
      results[0].conditions.title, "p50", "p90", "min", "max", "CPU", "MB/s", "files/s", "memory", "reads", "writes",
      "allocations", "over ours",
    ])
    for result in results {
      for program in result.programs {
        let spread = program.seconds
        table.add([
          result.operation.title + ": " + program.program, NumberText.seconds(spread.p50),
          NumberText.seconds(spread.p90), NumberText.seconds(spread.minimum), NumberText.seconds(spread.maximum),
          NumberText.seconds(program.cpuSeconds), program.bytesPerSecond.map { NumberText.digits($0 / 1e6) } ?? "-",
          program.filesPerSecond.map { NumberText.count($0) } ?? "-", NumberText.bytes(Double(program.peakByteCount)),
          count(program.readCallCount), count(program.writeCallCount), count(program.allocationCount),
          program.ratios.map { ratios($0, hasRivals: result.operation.hasRivals) } ?? "",
        ])
      }
    }
    return table.text
  }

  /// "1.24 × (1.10 to 1.31) win".
  private static func ratios(_ ratios: PairedRatios, hasRivals: Bool) -> String {
    "\(NumberText.ratio(ratios.median)) (\(NumberText.digits(ratios.minimum)) to "
      + "\(NumberText.digits(ratios.maximum)))" + (hasRivals ? " " + ratios.verdict.rawValue : "")
  }

  private static func pairs(_ corpus: CorpusResult) -> String {
    var lines = ""
    for result in corpus.operations {
      for program in result.programs {
        guard let ratios = program.ratios else { continue }
        lines +=
          "  \(result.operation.title), \(result.conditions.title): \(program.program): "
          + ratios.pairs.map(NumberText.digits).joined(separator: " ") + "\n"
      }
    }
    return lines.isEmpty ? "" : "pair by pair, time over time of the first program (above 1: ours is faster)\n" + lines
  }

  private static func limits(_ corpus: CorpusResult) -> String {
    var table = TextTable(["limit", "codec", "files", "limit", "measured", "efficiency"])
    for limit in corpus.limits {
      table.add([
        limit.operation.title, NumberText.seconds(limit.codecSeconds), NumberText.seconds(limit.fileSeconds),
        NumberText.seconds(limit.codecSeconds + limit.fileSeconds), NumberText.seconds(limit.measuredSeconds),
        NumberText.percent(limit.efficiency * 100),
      ])
    }
    return table.isEmpty ? "" : table.text
  }

  private static func profiles(_ corpus: CorpusResult) -> String {
    var text = ""
    for profile in corpus.profiles {
      let sections = profile.sections.map { "\($0.name) \(NumberText.seconds($0.cpuSeconds))" }
      let waits = profile.lanes.map { NumberText.seconds($0.waitSeconds) }
      text += """
        serial fraction of \(profile.operation.title): \(NumberText.percent(profile.serialFraction * 100)); \
        predicted speed-up \(NumberText.digits(profile.speedUpOn16Cores)) on 16 cores, \
        \(NumberText.digits(profile.speedUpOn64Cores)) on 64
          CPU time in order: \(sections.joined(separator: ", ")); lanes waited \(waits.joined(separator: ", "))

        """
    }
    return text
  }

  private static func scaling(_ corpus: CorpusResult) -> String {
    var table = TextTable(["scaling", "threads", "p50", "speed-up", "fitted serial fraction (noisy)"])
    for result in corpus.scaling {
      for point in result.points {
        let fit = point.fittedSerialFraction.map {
          "\(NumberText.percent($0.p50 * 100)) (\(NumberText.percent($0.minimum * 100)) to "
            + "\(NumberText.percent($0.maximum * 100)))"
        }
        table.add([
          result.operation.title, String(point.threadCount), NumberText.seconds(point.seconds.p50),
          point.speedUp.map { NumberText.ratio($0.median) } ?? "-", fit ?? "-",
        ])
      }
    }
    return table.isEmpty ? "" : table.text
  }

  private static func syncCosts(_ corpus: CorpusResult) -> String {
    corpus.syncCosts.map { cost in
      "fsync, \(cost.operation.title) on disk: \(NumberText.seconds(cost.synced.p50)) with it, "
        + "\(NumberText.seconds(cost.unsynced.p50)) without"
        + (cost.ratios.map { ", \(NumberText.ratio($0.median))" } ?? "") + "; no other program waits for the disk\n"
    }.joined()
  }

  private static func checks(_ corpus: CorpusResult) -> String {
    corpus.checks.map { check in
      "\(check.verdict == .wrong ? "WRONG" : "right"): \(check.operation.title) by \(check.program): "
        + check.verdict.rawValue + (check.detail.isEmpty ? "" : " (\(check.detail))") + "\n"
    }.joined()
  }

  private static func notes(_ report: BenchmarkReport) -> String {
    report.notes.map { "note: \($0)\n" }.joined()
  }

  private static func bytes(_ count: UInt64) -> String { NumberText.bytes(Double(count)) }
  private static func count(_ count: UInt64?) -> String { count.map { NumberText.count(Double($0)) } ?? "-" }
}
