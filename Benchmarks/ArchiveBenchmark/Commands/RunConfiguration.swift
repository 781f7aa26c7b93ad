internal import ArchiveEngine
internal import ArchiveIO
internal import BenchmarkKit
internal import CommandLineTool

/// What a run is to measure.
struct RunConfiguration: Sendable {
  static let synthetic = OptionSpec(
    "synthetic", value: "KIND,...",
    "Generate corpora: \(SyntheticCorpus.Kind.allCases.map(\.rawValue).joined(separator: ", ")), or all. "
      + "Default: all where no DIR is named.")
  static let size = OptionSpec("size", value: "SIZE", "Content of each generated corpus. Default: 64M.")
  static let seed = OptionSpec("seed", value: "N", "Seed of the generated corpora. Default: 1.")
  static let operations = OptionSpec(
    "operations", value: "NAME,...",
    "Measure these only: \(Operation.allCases.map(\.rawValue).joined(separator: ", ")).")
  static let against = OptionSpec(
    "against", value: "NAME,...", "Run these as well: \(Peers.names.joined(separator: ", ")), or all.")
  static let threads = OptionSpec(
    "threads", value: "N,...",
    "Threads of all programs; create and extract are measured with each number. Default: "
      + "the cores available.")
  static let runs = OptionSpec("runs", value: "N", "Rounds after the warm-up, 1 to 1000. Default: 5.")
  static let level = OptionSpec("level", value: "N", "zstd level of all programs, 1 to 19. Default: 3.")
  static let output = OptionSpec(
    "output", value: "DIR",
    "Where archives and trees go, emptied afterwards. Default: /dev/shm, else TMPDIR, else /tmp.")
  static let cold = OptionSpec(
    "cold", value: "DIR", "Measure create and extract in DIR, on a disk, too: with a cold cache, and with fsync.")
  static let coldBy = OptionSpec(
    "cold-by", value: "HOW",
    "Empty the system's whole page cache (all, needs root) or that of the corpus alone (files). "
      + "Default: all where possible.")
  static let csv = OptionSpec("csv", "Write every sample as CSV instead of the tables.")
  static let report = OptionSpec(
    "report", value: "DIR", "Write a page with charts to DIR, with report.json and raw.csv.")
  static let save = OptionSpec(
    "save", value: "DIR", "Store the same below DIR as <date>-<machine>, with a README; what is there stays.")
  static let programs = OptionSpec(
    "programs", value: "DIR", "Where starc, appmigrate and the helpers are. Default: beside this program.")

  static let options = [
    synthetic, size, seed, operations, against, .threads, runs, level, output, cold, coldBy, csv, report, save,
    programs,
  ].map { $0.name == OptionSpec.threads.name ? threads : $0 }

  /// Directories that the user names, absolute.
  let directories: [String]
  let kinds: [SyntheticCorpus.Kind]
  let syntheticByteCount: Int
  let seedNumber: UInt64
  let chosen: [Operation]
  let peers: [any Program]
  /// Ascending; the last is that of all operations which are measured once.
  let threadCounts: [Int]
  let runCount: Int
  let levelNumber: Int
  let outputDirectory: String?
  let coldDirectory: String?
  let coldMethod: PageCache.Method
  let writesCSV: Bool
  let reportDirectory: String?
  let saveDirectory: String?
  let programDirectory: String?
  let writesJSON: Bool

  init(_ arguments: ParsedArguments, _ common: CommonConfiguration) throws(Failure) {
    let operands = try arguments.operands.map { path throws(Failure) in try Self.text(path) }
    let kinds = try Self.words(arguments, Self.synthetic, SyntheticCorpus.Kind.allCases.map { ($0.rawValue, $0) })
    directories = operands
    self.kinds = kinds ?? (operands.isEmpty ? SyntheticCorpus.Kind.allCases : [])
    let size = try arguments.size(Self.size) ?? (64 << 20)
    guard size <= 1 << 40 else { throw .usage("--size: more than 1T") }
    syntheticByteCount = Int(size)
    seedNumber = try arguments.number(Self.seed, in: 0...UInt64.max) ?? 1
    chosen =
      try Self.words(arguments, Self.operations, Operation.allCases.map { ($0.rawValue, $0) })
      ?? Operation.allCases
    peers = try Self.words(arguments, Self.against, Peers.all.map { ($0.name, $0) }) ?? []
    threadCounts = try Self.threadCounts(arguments)
    runCount = try arguments.number(Self.runs, in: 1...1000) ?? 5
    levelNumber = try arguments.number(Self.level, in: 1...19) ?? 3
    outputDirectory = try Self.directory(arguments, Self.output)
    coldDirectory = try Self.directory(arguments, Self.cold)
    let methods: [(String, PageCache.Method)] = [("all", .dropAll), ("files", .adviseFiles)]
    coldMethod = try arguments.word(Self.coldBy, methods) ?? (PageCache.mayDropAll ? .dropAll : .adviseFiles)
    writesCSV = arguments.has(Self.csv)
    reportDirectory = try Self.directory(arguments, Self.report)
    saveDirectory = try Self.directory(arguments, Self.save)
    programDirectory = try Self.directory(arguments, Self.programs)
    writesJSON = common.writesJSON
    if writesCSV, writesJSON { throw .usage("--csv and --json both take standard output") }
  }

  private static func text(_ path: [UInt8]) throws(Failure) -> String {
    if path.isEmpty { throw .usage("a path is empty") }
    guard let text = String(validating: path, as: UTF8.self) else {
      throw .usage("\(PathText.printable(path)): paths have to be UTF-8 here")
    }
    return text
  }

  private static func directory(_ arguments: ParsedArguments, _ spec: OptionSpec) throws(Failure) -> String? {
    guard let path = arguments.bytes(spec) else { return nil }
    return try text(path)
  }

  /// The values of a list of words, each once and in the order of the list; nil when the option was not given.
  private static func words<Value>(
    _ arguments: ParsedArguments, _ spec: OptionSpec, _ known: [(String, Value)]
  ) throws(Failure) -> [Value]? {
    guard let text = arguments.text(spec) else { return nil }
    let names = text.split(separator: ",").map(String.init)
    for name in names where name != "all" && !known.contains(where: { $0.0 == name }) {
      throw .usage("--\(spec.name): \"\(name)\" is not one of all, \(known.map(\.0).joined(separator: ", "))")
    }
    if names.isEmpty { throw .usage("--\(spec.name) is empty") }
    return known.filter { names.contains("all") || names.contains($0.0) }.map(\.1)
  }

  private static func threadCounts(_ arguments: ParsedArguments) throws(Failure) -> [Int] {
    guard let text = arguments.text(threads) else { return [min(256, ProcessFacts.availableCores)] }
    var counts: Set<Int> = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let count = Int(word), (1...256).contains(count) else {
        throw .usage("--threads: \"\(word)\" is not a whole number 1 to 256")
      }
      counts.insert(count)
    }
    return counts.sorted()
  }
}
