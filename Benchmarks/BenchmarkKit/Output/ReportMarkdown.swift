/// The report as the README of stored results.
package enum ReportMarkdown {
  /// The whole text.
  package static func text(_ report: BenchmarkReport) -> String {
    let machine = report.machine
    var text = """
      # \(report.startedAt.prefix(10)), \(machine.coreCount) \(machine.coreCount == 1 ? "core" : "cores")

      \(machine.processor), \(machine.coreCount) cores, \(NumberText.bytes(Double(machine.memoryByteCount))), Linux \(machine.kernel), \
      \(machine.system); load for each core at the start \(NumberText.digits(machine.loadAtStart)). \
      Archives and trees on \(report.settings.outputFileSystem)\(report.settings.diskFileSystem.map { ", disk \($0)" } ?? ""). \
      Medians of \(report.settings.runCount) alternating rounds after a warm-up. Every sample is in `raw.csv`, every value in \
      `report.json`, charts in `report.html`.

      ```sh
      \(report.commandLine)
      ```

      """
    for corpus in report.corpora { text += "\n" + section(corpus) }
    text += "\n## Versions\n\n" + report.versions.map { "* \($0.program): \($0.version)\n" }.joined()
    if let method = report.settings.coldCacheMethod { text += "\nCold cache by: \(method).\n" }
    if !report.notes.isEmpty { text += "\n" + report.notes.map { "Note: \($0).\n" }.joined() }
    return text
  }

  private static func section(_ corpus: CorpusResult) -> String {
    var text = """
      ## \(corpus.name)

      \(NumberText.count(Double(corpus.entryCount))) entries, \(NumberText.count(Double(corpus.fileCount))) files, \
      \(NumberText.bytes(Double(corpus.contentByteCount))); \(corpus.origin)

      """
    for group in ReportText.grouped(corpus.operations) {
      text += "\n\(group[0].conditions.title):\n\n"
      text += "| operation | program | p50 | min to max | CPU | memory | their time over ours, pair by pair |\n"
      text += "|---|---|---|---|---|---|---|\n"
      for result in group {
        for program in result.programs {
          let spread = program.seconds
          let ratios = program.ratios.map {
            "\(NumberText.ratio($0.median)): " + $0.pairs.map(NumberText.digits).joined(separator: " ")
          }
          text +=
            "| \(result.operation.title) | \(program.program) | \(NumberText.seconds(spread.p50)) | "
            + "\(NumberText.seconds(spread.minimum)) to \(NumberText.seconds(spread.maximum)) | "
            + "\(NumberText.seconds(program.cpuSeconds)) | \(NumberText.bytes(Double(program.peakByteCount))) | "
            + "\(ratios ?? "") |\n"
        }
      }
    }
    if !corpus.archives.isEmpty {
      let sizes = corpus.archives.map { "\($0.program) \(NumberText.count(Double($0.archiveByteCount)))" }
      text += "\nArchive bytes: \(sizes.joined(separator: ", ")).\n"
    }
    if let estimate = corpus.estimate {
      text +=
        "\nEstimate: archive \(NumberText.percent(estimate.archiveErrorPercent, signed: true)), content "
        + "\(NumberText.percent(estimate.contentErrorPercent, signed: true)), in \(NumberText.seconds(estimate.ownSeconds)).\n"
    }
    for limit in corpus.limits {
      text +=
        "\nLimit of \(limit.operation.title): \(NumberText.seconds(limit.codecSeconds)) codec, "
        + "\(NumberText.seconds(limit.fileSeconds)) files: \(NumberText.percent(limit.efficiency * 100)) reached.\n"
    }
    for profile in corpus.profiles {
      text +=
        "\nSerial fraction of \(profile.operation.title): \(NumberText.percent(profile.serialFraction * 100)); predicted "
        + "speed-up \(NumberText.digits(profile.speedUpOn16Cores)) on 16 cores, "
        + "\(NumberText.digits(profile.speedUpOn64Cores)) on 64.\n"
    }
    for cost in corpus.syncCosts {
      text +=
        "\nfsync, \(cost.operation.title) on disk: \(NumberText.seconds(cost.synced.p50)) with it, "
        + "\(NumberText.seconds(cost.unsynced.p50)) without.\n"
    }
    text += "\nCommands:\n\n```sh\n"
    text += corpus.operations.flatMap(\.programs).map { $0.command + "\n" }.joined() + "```\n"
    return text
  }
}
