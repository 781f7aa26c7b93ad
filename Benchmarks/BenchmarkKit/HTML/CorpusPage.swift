/// What the page says about one corpus.
enum CorpusPage {
  static func section(_ corpus: CorpusResult) -> String {
    let line =
      "\(NumberText.count(Double(corpus.entryCount))) entries, \(NumberText.count(Double(corpus.fileCount))) files, "
      + "\(NumberText.bytes(Double(corpus.contentByteCount))); \(corpus.origin)"
    var figures = [against(corpus), estimate(corpus)]
    for group in ReportText.grouped(corpus.operations) { figures += group.map(time) }
    figures += [throughput(corpus), archives(corpus), memory(corpus), efficiency(corpus), scaling(corpus)]
    figures += corpus.profiles.map(profile)
    figures.append(sync(corpus))
    return Markup.text("h2", [], corpus.name) + Markup.text("p", [("class", "faint")], line) + checks(corpus)
      + Markup.element("div", [("class", "grid")], figures.joined()) + details(corpus)
  }

  /// Nothing where there is nothing to show.
  private static func figure(
    _ title: String, _ caption: String, _ chart: Chart?, isWide: Bool = false
  ) -> String {
    guard let chart else { return "" }
    return Markup.element(
      "figure", isWide ? [("class", "wide")] : [],
      Markup.text("h3", [], title) + Markup.text("figcaption", [], caption) + chart.svg)
  }

  /// The one in memory with the most threads.
  private static func main(_ operation: Operation, of corpus: CorpusResult) -> OperationResult? {
    corpus.operations.filter { $0.operation == operation && $0.conditions.place == .memory }
      .max { $0.conditions.threadCount < $1.conditions.threadCount }
  }

  // MARK: Comparisons

  private static func against(_ corpus: CorpusResult) -> String {
    var rows: [(title: String, ratios: PairedRatios)] = []
    for result in corpus.operations where result.operation.hasRivals {
      for program in result.programs {
        guard let ratios = program.ratios else { continue }
        let conditions = result.conditions
        let place = conditions.isCold ? ", cold" : ""
        rows.append(("\(result.operation.title) · \(program.program) · \(conditions.threadCount) thr.\(place)", ratios))
      }
    }
    guard !rows.isEmpty else { return "" }
    let extreme = rows.map { max($0.ratios.maximum, 1 / max($0.ratios.minimum, 1e-3)) }.max() ?? 2
    // Half as fast lies as far from the middle as twice as fast.
    let scale = Logarithm.two(max(2, min(extreme, 64)))
    func place(_ ratio: Double) -> Double { 0.5 + Logarithm.two(max(ratio, 1e-3)) / scale / 2 }
    var chart = Chart(label: "How other programs compare with starc on \(corpus.name)")
    for row in rows {
      let (low, high) = (min(max(place(row.ratios.minimum), 0), 1), min(max(place(row.ratios.maximum), 0), 1))
      chart.point(
        row.title, describe(row.ratios), value: place(row.ratios.median), spread: low...max(low, high), origin: 0.5,
        kind: kind(row.ratios.verdict))
    }
    return figure(
      "Against other programs",
      "Their time over ours, in pairs; to the right of the middle starc is faster, to the left slower. Logarithmic.",
      chart, isWide: true)
  }

  private static func kind(_ verdict: PairedRatios.Verdict) -> String {
    switch verdict {
    case .win: "ours"
    case .loss: "slower"
    case .tie: "tie"
    }
  }

  private static func describe(_ ratios: PairedRatios) -> String {
    switch ratios.verdict {
    case .win: "\(NumberText.ratio(ratios.median)) faster"
    case .loss: "\(NumberText.ratio(1 / max(ratios.median, 1e-9))) slower"
    case .tie: "\(NumberText.ratio(ratios.median)), undecided"
    }
  }

  private static func time(_ result: OperationResult) -> String {
    let longest = result.programs.map(\.seconds.maximum).max() ?? 0
    guard longest > 0 else { return "" }
    var chart = Chart(label: "Time of \(result.operation.title)")
    for (index, program) in result.programs.enumerated() {
      let spread = program.seconds
      let isOurs = index == 0 || !result.operation.hasRivals
      chart.bar(
        program.program, NumberText.seconds(spread.p50), value: spread.p50 / longest,
        spread: spread.minimum / longest...spread.maximum / longest, kind: isOurs ? "ours" : "other")
    }
    return figure(result.operation.title, result.conditions.title, chart)
  }

  // MARK: Estimate

  private static func estimate(_ corpus: CorpusResult) -> String {
    guard let estimate = corpus.estimate else { return "" }
    let widest = Double(
      max(estimate.archiveByteCountHigh, estimate.actualArchiveByteCount, estimate.archiveByteCount, 1))
    var chart = Chart(label: "Predicted and actual size of the archive")
    let (low, high) = (Double(estimate.archiveByteCountLow) / widest, Double(estimate.archiveByteCountHigh) / widest)
    chart.bar(
      "archive, predicted",
      "\(NumberText.bytes(Double(estimate.archiveByteCount))), "
        + NumberText.percent(estimate.archiveErrorPercent, signed: true),
      value: Double(estimate.archiveByteCount) / widest, spread: min(low, high)...max(low, high), kind: "second")
    chart.bar(
      "archive, actual", NumberText.bytes(Double(estimate.actualArchiveByteCount)),
      value: Double(estimate.actualArchiveByteCount) / widest, kind: "ours")
    if let actual = estimate.actualSeconds {
      let longest = max(actual, estimate.seconds, 1e-9)
      chart.bar(
        "time, predicted", NumberText.seconds(estimate.seconds), value: estimate.seconds / longest, kind: "second")
      chart.bar("time, actual", NumberText.seconds(actual), value: actual / longest, kind: "ours")
    }
    return figure(
      "Estimate",
      "Content error \(NumberText.percent(estimate.contentErrorPercent, signed: true)); the line shows the predicted "
        + "bounds; asking took \(NumberText.seconds(estimate.ownSeconds))",
      chart)
  }

  private static func throughput(_ corpus: CorpusResult) -> String {
    var rows: [(title: String, rate: Double, kind: String)] = []
    if let rate = corpus.estimate?.estimatedBytesPerSecond {
      rows.append(("create, of estimated bytes", rate, "second"))
    }
    for operation in Operation.allCases where operation.hasRivals {
      guard let own = main(operation, of: corpus)?.programs.first, let rate = own.bytesPerSecond else { continue }
      rows.append((operation.title, rate, "ours"))
    }
    guard let fastest = rows.map(\.rate).max(), fastest > 0 else { return "" }
    var chart = Chart(label: "Throughput")
    for row in rows { chart.bar(row.title, NumberText.rate(row.rate), value: row.rate / fastest, kind: row.kind) }
    return figure("Throughput of starc", "Content bytes in a second, warm cache, in memory", chart)
  }

  private static func archives(_ corpus: CorpusResult) -> String {
    guard let largest = corpus.archives.map(\.archiveByteCount).max(), largest > 0 else { return "" }
    var chart = Chart(label: "Sizes of the archives")
    for (index, archive) in corpus.archives.enumerated() {
      let text =
        NumberText.bytes(Double(archive.archiveByteCount))
        + (archive.ratio.map { ", ratio \(NumberText.digits($0))" } ?? "")
      chart.stack(
        archive.program, text,
        parts: [
          (
            Double(archive.frameByteCount) / Double(largest), index == 0 ? "ours" : "other",
            "frames \(NumberText.bytes(Double(archive.frameByteCount)))"
          ),
          (
            Double(archive.indexByteCount) / Double(largest), "third",
            "index \(NumberText.bytes(Double(archive.indexByteCount)))"
          ),
        ])
    }
    let index = corpus.archives.first.map { Double($0.indexByteCount) } ?? 0
    return figure("Archive size", "Of starc's, \(NumberText.bytes(index)) are index (green)", chart)
  }

  private static func memory(_ corpus: CorpusResult) -> String {
    var rows: [(title: String, bytes: Double, kind: String)] = []
    for operation in [Operation.create, .extract] {
      guard let result = main(operation, of: corpus) else { continue }
      for (index, program) in result.programs.enumerated() {
        rows.append(
          ("\(operation.title) · \(program.program)", Double(program.peakByteCount), index == 0 ? "ours" : "other"))
      }
    }
    guard let most = rows.map(\.bytes).max(), most > 0 else { return "" }
    var chart = Chart(label: "Peak of the resident memory")
    for row in rows { chart.bar(row.title, NumberText.bytes(row.bytes), value: row.bytes / most, kind: row.kind) }
    return figure("Memory", "Peak of the resident memory; of pipelines the sum", chart)
  }

  // MARK: What limits ours

  private static func efficiency(_ corpus: CorpusResult) -> String {
    guard !corpus.limits.isEmpty else { return "" }
    var chart = Chart(label: "Efficiency against the limit")
    for limit in corpus.limits {
      let whole = max(limit.measuredSeconds, limit.codecSeconds + limit.fileSeconds, 1e-9)
      chart.stack(
        limit.operation.title,
        "\(NumberText.seconds(limit.measuredSeconds)), \(NumberText.percent(limit.efficiency * 100)) of the limit",
        parts: [
          (limit.codecSeconds / whole, "ours", "codec \(NumberText.seconds(limit.codecSeconds))"),
          (limit.fileSeconds / whole, "third", "files \(NumberText.seconds(limit.fileSeconds))"),
        ])
      chart.mark(at: limit.measuredSeconds / whole)
    }
    return figure(
      "Efficiency", "Codec (blue) and bare file work (green) on all cores; the mark is what was measured", chart)
  }

  private static func scaling(_ corpus: CorpusResult) -> String {
    guard !corpus.scaling.isEmpty else { return "" }
    var chart = Chart(label: "Speed-up with threads")
    for result in corpus.scaling {
      let base = result.points.first?.threadCount ?? 1
      let most = Double(result.points.last?.threadCount ?? 1) / Double(base)
      for point in result.points {
        guard let speedUp = point.speedUp else { continue }
        let whole = max(most, speedUp.maximum)
        chart.bar(
          "\(result.operation.title), \(point.threadCount) thr.", NumberText.ratio(speedUp.median),
          value: speedUp.median / whole, spread: speedUp.minimum / whole...speedUp.maximum / whole, kind: "ours")
        chart.mark(at: Double(point.threadCount) / Double(base) / whole)
      }
    }
    return figure("Scaling", "Speed-up of starc against the fewest threads, in pairs; the mark would be perfect", chart)
  }

  private static func profile(_ profile: ProfileResult) -> String {
    let parallel = profile.lanes.reduce(0) { $0 + $1.cpuSeconds }
    let total = max(parallel + profile.sections.reduce(0) { $0 + $1.cpuSeconds }, 1e-9)
    var chart = Chart(label: "Serial fraction of \(profile.operation.title)")
    chart.stack(
      "all CPU time", NumberText.seconds(total),
      parts: [
        (profile.serialFraction, "slower", "in order"), (1 - profile.serialFraction, "ours", "on lanes"),
      ])
    for section in profile.sections.sorted(by: { $0.cpuSeconds > $1.cpuSeconds }) {
      let ordered = max(profile.serialFraction * total, 1e-9)
      chart.bar(
        section.name,
        "\(NumberText.seconds(section.cpuSeconds)), \(NumberText.percent(section.cpuSeconds / total * 100))",
        value: section.cpuSeconds / ordered, kind: "slower")
    }
    let longest = max(profile.lanes.map { $0.cpuSeconds + $0.waitSeconds }.max() ?? 0, 1e-9)
    for (index, lane) in profile.lanes.enumerated() {
      chart.stack(
        "lane \(index + 1)",
        "\(NumberText.seconds(lane.cpuSeconds)) at work, \(NumberText.seconds(lane.waitSeconds)) waiting",
        parts: [
          (lane.cpuSeconds / longest, "ours", "at work"), (lane.waitSeconds / longest, "other", "waiting"),
        ])
    }
    return figure(
      "Serial fraction of \(profile.operation.title): \(NumberText.percent(profile.serialFraction * 100))",
      "Predicted speed-up \(NumberText.digits(profile.speedUpOn16Cores)) on 16 cores, "
        + "\(NumberText.digits(profile.speedUpOn64Cores)) on 64",
      chart)
  }

  private static func sync(_ corpus: CorpusResult) -> String {
    guard let longest = corpus.syncCosts.flatMap({ [$0.synced.maximum, $0.unsynced.maximum] }).max(), longest > 0 else {
      return ""
    }
    var chart = Chart(label: "What waiting for the disk costs")
    for cost in corpus.syncCosts {
      for (title, spread, kind) in [("with fsync", cost.synced, "second"), ("without", cost.unsynced, "ours")] {
        chart.bar(
          "\(cost.operation.title), \(title)", NumberText.seconds(spread.p50), value: spread.p50 / longest,
          spread: spread.minimum / longest...spread.maximum / longest, kind: kind)
      }
    }
    return figure("Cost of fsync", "On disk, warm cache; no other program waits until its data are on the disk", chart)
  }

  // MARK: Words and tables

  private static func checks(_ corpus: CorpusResult) -> String {
    let wrong = corpus.checks.filter { $0.verdict == .wrong }
    if !wrong.isEmpty {
      return wrong.map {
        Markup.text("p", [("class", "wrong")], "WRONG: \($0.operation.title) by \($0.program): \($0.detail)")
      }.joined()
    }
    guard !corpus.checks.isEmpty else { return "" }
    let partial = corpus.checks.filter { $0.verdict == .contentsIdentical }
    var text = "All results were compared with the corpus and are right."
    if !partial.isEmpty {
      let list = partial.map { "\($0.program), \($0.operation.title) (\($0.detail))" }
      text += " Not all metadata came through: \(list.joined(separator: "; "))."
    }
    return Markup.text("p", [("class", "faint")], text)
  }

  private static func details(_ corpus: CorpusResult) -> String {
    let head = [
      "operation", "program", "threads", "cache", "p50", "p90", "min", "max", "CPU", "MB/s", "files/s", "memory",
      "reads",
      "writes", "allocations", "ratios, pair by pair",
    ]
    var rows: [[String]] = []
    for result in corpus.operations {
      for program in result.programs {
        let spread = program.seconds
        let counts = [program.readCallCount, program.writeCallCount, program.allocationCount].map {
          $0.map { NumberText.count(Double($0)) } ?? "-"
        }
        let conditions = result.conditions
        rows.append(
          [
            result.operation.title, program.program, String(conditions.threadCount),
            (conditions.isCold ? "cold" : "warm") + (conditions.place == .disk ? ", disk" : "")
              + (conditions.syncs ? ", synced" : ""), NumberText.seconds(spread.p50), NumberText.seconds(spread.p90),
            NumberText.seconds(spread.minimum), NumberText.seconds(spread.maximum),
            NumberText.seconds(program.cpuSeconds), program.bytesPerSecond.map { NumberText.digits($0 / 1e6) } ?? "-",
            program.filesPerSecond.map { NumberText.count($0) } ?? "-",
            NumberText.bytes(Double(program.peakByteCount)),
          ] + counts + [program.ratios?.pairs.map(NumberText.digits).joined(separator: " ") ?? ""])
      }
    }
    return Markup.element("details", [], Markup.text("summary", [], "All values") + Markup.table(head, rows))
  }
}
