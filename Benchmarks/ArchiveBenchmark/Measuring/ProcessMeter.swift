internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool
internal import Foundation
internal import Glibc

/// What a run of a pipeline has shown.
struct MeterReading {
  /// What it cost.
  var sample: Sample
  /// The exit status of each of its programs.
  var statuses: [Int]
  /// What they wrote as errors, at most a few lines.
  var errorText: String
  /// Calls of malloc and its kin, when they were counted.
  var allocationCount: UInt64?

  /// Whether all ended well.
  var isClean: Bool { statuses.allSatisfy { $0 == 0 } }
}

/// Runs pipelines through `process-meter`, which keeps their memory apart from this process's.
struct ProcessMeter {
  /// Path of `process-meter`.
  let executable: String
  /// The library that counts allocations; nil where there is none.
  let counterLibrary: String?
  /// A directory for its small files.
  let directory: String
  /// Ends the pipeline.
  let cancellation: CancellationToken

  /// Runs a pipeline to its end.
  func run(_ pipeline: Pipeline, round: Int, countingAllocations: Bool = false) throws(Failure) -> MeterReading {
    let report = directory + "/report"
    let errors = directory + "/errors"
    let counts = directory + "/counts"
    _ = unsafe unlink(counts)
    let preload = countingAllocations ? counterLibrary ?? "" : ""
    var arguments = [executable, report, pipeline.outputPath ?? "/dev/null", errors, preload, counts]
    for stage in pipeline.stages { arguments += [String(stage.count)] + stage }
    let status = try spawn(arguments)
    if cancellation.isCancelled { throw .cancelled }
    guard status == 0 else { throw .failed("process-meter failed with status \(status)") }
    var reading = try parse(try SmallFile.text(report), round: round)
    reading.errorText = Self.firstLines(of: (try? SmallFile.text(errors)) ?? "")
    if countingAllocations { reading.allocationCount = Self.sum((try? SmallFile.text(counts)) ?? "") }
    return reading
  }

  // MARK: Parsing

  private func parse(_ text: String, round: Int) throws(Failure) -> MeterReading {
    var sample = Sample(round: round, seconds: 0, readCallCount: 0, writeCallCount: 0)
    var statuses: [Int] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      let numbers = words.dropFirst().compactMap { Int($0) }
      if words.first == "wall", numbers.count == 1 {
        sample.seconds = Double(numbers[0]) / 1e9
      } else if words.first == "stage", numbers.count == 6 {
        statuses.append(numbers[0])
        sample.userSeconds += Double(numbers[1]) / 1e6
        sample.systemSeconds += Double(numbers[2]) / 1e6
        sample.peakByteCount += UInt64(max(0, numbers[3])) * 1024
        sample.readCallCount = Self.add(sample.readCallCount, numbers[4])
        sample.writeCallCount = Self.add(sample.writeCallCount, numbers[5])
      } else {
        throw .failed("process-meter wrote \"\(line)\"")
      }
    }
    guard !statuses.isEmpty else { throw .failed("process-meter wrote no result") }
    return MeterReading(sample: sample, statuses: statuses, errorText: "")
  }

  /// Unknown as soon as one part is.
  private static func add(_ sum: UInt64?, _ count: Int) -> UInt64? {
    guard let sum, count >= 0 else { return nil }
    return sum + UInt64(count)
  }

  private static func sum(_ text: String) -> UInt64? {
    let counts = text.split(separator: "\n").compactMap { $0.split(separator: " ").first.flatMap { UInt64($0) } }
    return counts.isEmpty ? nil : counts.reduce(0, +)
  }

  private static func firstLines(of text: String) -> String {
    text.split(separator: "\n").prefix(3).joined(separator: "; ")
  }

  // MARK: Spawning

  private func spawn(_ arguments: [String]) throws(Failure) -> Int32 {
    var environment = ProcessInfo.processInfo.environment
    // Messages are the same everywhere.
    environment["LC_ALL"] = "C"
    var cArguments = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var cEnvironment = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      for index in unsafe cArguments.indices { unsafe free(cArguments[index]) }
      for index in unsafe cEnvironment.indices { unsafe free(cEnvironment[index]) }
    }
    var process: pid_t = 0
    // Safe: both arrays end with nil and live until the call is over.
    let error = unsafe posix_spawn(&process, executable, nil, nil, &cArguments, &cEnvironment)
    if error != 0 { throw .failed("\(executable): \(unsafe String(cString: strerror(error)))") }
    return wait(for: process)
  }

  /// Looks now and then: the time is taken by the meter, and a cancellation is seen.
  private func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    var pause: UInt32 = 200
    var isKilled = false
    while true {
      let result = unsafe waitpid(process, &status, WNOHANG)
      if result == process { break }
      if result < 0, errno != EINTR { return 127 }
      if cancellation.isCancelled, !isKilled {
        // The meter's children die with it.
        kill(process, SIGKILL)
        isKilled = true
      }
      usleep(pause)
      pause = min(pause * 2, 5000)
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }
}
