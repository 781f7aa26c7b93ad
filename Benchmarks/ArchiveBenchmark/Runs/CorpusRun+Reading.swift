internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool

extension CorpusRun {
  /// Measures an operation that writes no files.
  func read(_ operation: Operation) throws(Failure) {
    if operation == .cat, scan.middleFile == nil { return }
    note(operation.title)
    var contestants: [Rounds.Contestant] = []
    for program in programs where has(program) {
      let contestant = Rounds.Contestant(
        program, operation, job(program, conditions),
        check: { [self] pipeline throws(Failure) in try checkOutput(of: program, operation, pipeline) })
      if let contestant { contestants.append(contestant) }
    }
    result.operations += try rounds.measure(operation, contestants)
  }

  /// Runs it once more, with its output kept.
  private func checkOutput(
    of program: any Program, _ operation: Operation, _ pipeline: Pipeline
  ) throws(Failure) {
    guard operation == .list || operation == .cat else { return }
    var pipeline = pipeline
    let output = scratch.file("output")
    pipeline.outputPath = output
    let reading = try tools.meter.run(pipeline, round: 0)
    var found = CheckResult(program: program.name, operation: operation, verdict: .identical)
    if !reading.isClean {
      found = CheckResult(program: program.name, operation: operation, verdict: .wrong, detail: reading.errorText)
    } else if operation == .cat {
      let isSame = try SmallFile.bytes(output) == SmallFile.bytes(path + "/" + (scan.middleFile ?? ""))
      if !isSame { found.verdict = .wrong }
    } else {
      let lines = try SmallFile.bytes(output).count { $0 == 0x0A }
      // Programs differ in whether they list the root and what stands above it.
      let isComplete = (Int(scan.entryCount)...Int(scan.entryCount) + 2).contains(lines)
      found.detail = "\(NumberText.count(Double(lines))) lines"
      if !isComplete { found.verdict = .wrong }
    }
    record(&found)
    try scratch.remove("output")
  }

  // MARK: Migrations

  /// Measures an export and an import against `starc` doing the same with the same files.
  func migrate() throws(Failure) {
    guard let appmigrate = tools.appmigrate else { return }
    let baseline = StarcBaseline(starc: tools.starc)
    let pair: [any Program] = [baseline, appmigrate]
    if configuration.chosen.contains(.export) || configuration.chosen.contains(.import) {
      let contestants = pair.compactMap { program in
        Rounds.Contestant(
          program, .export, migrationJob(program),
          prepare: { [scratch] () throws(Failure) in try scratch.remove("migration-" + program.name) })
      }
      note("export")
      let results = try rounds.measure(.export, contestants)
      if configuration.chosen.contains(.export) { result.operations += results }
    }
    guard configuration.chosen.contains(.import) else { return }
    note("import")
    let contestants = pair.compactMap { program in
      Rounds.Contestant(
        program, .import, migrationJob(program),
        prepare: { [scratch] () throws(Failure) in try scratch.remove("tree") },
        check: { [self] _ throws(Failure) in
          var found = try TreeComparison.check(
            scratch.file("tree"), against: path, program: program.name, operation: .import,
            token: session.cancellation)
          record(&found)
        })
    }
    result.operations += try rounds.measure(.import, contestants)
    try scratch.remove("tree")
  }

  private func migrationJob(_ program: any Program) -> Job {
    var job = job(program, conditions)
    job.archive = scratch.file("migration-" + program.name)
    return job
  }
}
