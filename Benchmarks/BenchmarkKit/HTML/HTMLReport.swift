/// The report as one page that needs nothing else.
package enum HTMLReport {
  /// The whole document.
  package static func text(_ report: BenchmarkReport) -> String {
    let title = "starc, measured on \(report.startedAt.prefix(10))"
    let head =
      Markup.empty("meta", [("charset", "utf-8")])
      + Markup.empty("meta", [("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
      + Markup.text("title", [], title) + Markup.element("style", [], StyleSheet.text)
    let body = Markup.element(
      "main", [], opening(report, title) + report.corpora.map(CorpusPage.section).joined() + closing(report))
    return "<!DOCTYPE html>\n"
      + Markup.element("html", [("lang", "en")], Markup.element("head", [], head) + Markup.element("body", [], body))
      + "\n"
  }

  // MARK: Opening

  private static func opening(_ report: BenchmarkReport, _ title: String) -> String {
    let machine = report.machine
    let line =
      "\(machine.processor), \(machine.coreCount) \(machine.coreCount == 1 ? "core" : "cores"), "
      + "\(NumberText.bytes(Double(machine.memoryByteCount))), \(machine.system), Linux \(machine.kernel). "
      + "\(report.settings.runCount) rounds after a warm-up, level \(report.settings.level)."
    return Markup.text("h1", [], title) + Markup.text("p", [("class", "faint")], line)
      + Markup.element("div", [("class", "tiles")], tiles(report).map(tile).joined())
      + report.notes.map { Markup.text("p", [("class", "faint")], "Note: " + $0) }.joined()
  }

  private static func tile(_ tile: (value: String, text: String)) -> String {
    Markup.element("div", [("class", "tile")], Markup.text("b", [], tile.value) + Markup.escape(tile.text))
  }

  private static func tiles(_ report: BenchmarkReport) -> [(value: String, text: String)] {
    var tiles: [(value: String, text: String)] = []
    let ratios = report.corpora.flatMap(\.operations).filter { $0.operation.hasRivals }.flatMap(\.programs)
      .compactMap(\.ratios)
    if !ratios.isEmpty {
      let counts = [PairedRatios.Verdict.win, .tie, .loss].map { verdict in ratios.count { $0.verdict == verdict } }
      tiles.append(
        ("\(counts[0]) · \(counts[1]) · \(counts[2])", "comparisons won in every round, undecided, lost in every round")
      )
    }
    let create = report.corpora.compactMap { corpus in
      corpus.operations.first { $0.operation == .create }?.programs.first?.bytesPerSecond
    }
    if let spread = Distribution(create) {
      tiles.append((NumberText.rate(spread.p50), "create, median of \(spread.count) corpora"))
    }
    let errors = report.corpora.compactMap(\.estimate).map { abs($0.archiveErrorPercent) }
    if let spread = Distribution(errors) {
      tiles.append((NumberText.percent(spread.maximum), "largest error of a predicted archive size"))
    }
    let serial = report.corpora.flatMap(\.profiles).map { $0.serialFraction * 100 }
    if let spread = Distribution(serial) {
      tiles.append((NumberText.percent(spread.maximum), "largest serial fraction of the CPU time"))
    }
    let efficiency = report.corpora.flatMap(\.limits).map { $0.efficiency * 100 }
    if let spread = Distribution(efficiency) {
      tiles.append((NumberText.percent(spread.p50), "of the limit reached, median"))
    }
    return tiles
  }

  // MARK: Closing

  private static func closing(_ report: BenchmarkReport) -> String {
    let settings = report.settings
    var rows = [
      ["processor", report.machine.processor], ["cores", String(report.machine.coreCount)],
      ["memory", NumberText.bytes(Double(report.machine.memoryByteCount))],
      ["system", "\(report.machine.system), Linux \(report.machine.kernel)"],
      ["load for each core at the start", NumberText.digits(report.machine.loadAtStart)],
      ["archives and trees on", settings.outputFileSystem], ["begun", report.startedAt],
      ["took", NumberText.seconds(report.seconds)],
    ]
    if let disk = settings.diskFileSystem { rows.append(["disk", disk]) }
    if let method = settings.coldCacheMethod { rows.append(["cold cache by", method]) }
    rows += report.versions.map { [$0.program, $0.version] }
    var commands = "# the whole run\n\(report.commandLine)\n"
    for corpus in report.corpora {
      commands += "\n# \(corpus.name): \(corpus.origin)\n"
      for result in corpus.operations {
        for program in result.programs { commands += program.command + "\n" }
      }
    }
    return Markup.text("h2", [], "Machine, versions, commands") + Markup.table(["", ""], rows)
      + Markup.text("pre", [], commands) + reading
  }

  private static let reading = Markup.text(
    "p", [("class", "faint")],
    "Bars are medians, the thin lines reach from the fastest to the slowest run. Ratios are taken round by round between "
      + "programs that ran one after the other; a comparison is won or lost only when every round says so. Memory of a "
      + "pipeline is the sum of its programs' peaks. The limit is the time of the codec from memory on all cores plus the "
      + "time of the bare file work on all cores, one after the other; a program that overlaps the two can pass it. Every "
      + "sample is in raw.csv, every value in report.json.")
}

extension Operation {
  /// Exports and imports are compared with starc itself, which nobody can win.
  var hasRivals: Bool { self != .export && self != .import }
}
