/// Everything that a run of the benchmark found.
package struct BenchmarkReport: Codable, Sendable {
  /// Grows when fields change their meaning.
  package var schemaVersion = 1
  /// When it began, UTC, ISO 8601.
  package var startedAt: String
  /// How long it took.
  package var seconds: Double = 0
  /// How it was started.
  package var commandLine: String
  /// Where it ran.
  package var machine: Machine
  /// Versions of all programs that took part.
  package var versions: [ProgramVersion]
  /// How it was set.
  package var settings: Settings
  /// One for each corpus.
  package var corpora: [CorpusResult] = []
  /// What has to be known to read the numbers: what was skipped or cannot be measured here.
  package var notes: [String] = []

  /// Begins a report.
  package init(
    startedAt: String, commandLine: String, machine: Machine, versions: [ProgramVersion], settings: Settings
  ) {
    self.startedAt = startedAt
    self.commandLine = commandLine
    self.machine = machine
    self.versions = versions
    self.settings = settings
  }
}

/// What the numbers depend on.
package struct Machine: Codable, Sendable {
  package var processor: String
  package var coreCount: Int
  package var memoryByteCount: UInt64
  package var kernel: String
  package var system: String
  /// Share of the cores that was busy when the run began, from the load average.
  package var loadAtStart: Double

  /// Describes a machine.
  package init(
    processor: String, coreCount: Int, memoryByteCount: UInt64, kernel: String, system: String, loadAtStart: Double
  ) {
    self.processor = processor
    self.coreCount = coreCount
    self.memoryByteCount = memoryByteCount
    self.kernel = kernel
    self.system = system
    self.loadAtStart = loadAtStart
  }

  /// Short enough for the name of a folder.
  package var label: String { "\(coreCount)-core" + (coreCount == 1 ? "" : "s") }
}

/// A program that took part.
package struct ProgramVersion: Codable, Sendable {
  package var program: String
  package var version: String

  /// Makes a version.
  package init(program: String, version: String) {
    self.program = program
    self.version = version
  }
}

/// How a run was set.
package struct Settings: Codable, Sendable {
  /// Measured rounds, after one that is not counted.
  package var runCount: Int
  package var level: Int
  package var threadCounts: [Int]
  package var seed: UInt64
  /// File system that the warm runs wrote to.
  package var outputFileSystem: String
  /// File system of the runs on disk; nil without any.
  package var diskFileSystem: String?
  /// How the cache was emptied; nil without cold runs.
  package var coldCacheMethod: String?

  /// Makes settings.
  package init(
    runCount: Int, level: Int, threadCounts: [Int], seed: UInt64, outputFileSystem: String,
    diskFileSystem: String? = nil, coldCacheMethod: String? = nil
  ) {
    self.runCount = runCount
    self.level = level
    self.threadCounts = threadCounts
    self.seed = seed
    self.outputFileSystem = outputFileSystem
    self.diskFileSystem = diskFileSystem
    self.coldCacheMethod = coldCacheMethod
  }
}
