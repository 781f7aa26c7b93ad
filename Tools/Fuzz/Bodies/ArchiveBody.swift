internal import ArchiveEngine
internal import ArchiveFormat
internal import ArchiveIO
internal import Glibc

/// Whole archives, extracted in all ways, with a detector of escapes.
enum ArchiveBody {
  /// How an input is extracted; the first bytes say it.
  struct Way {
    var isNew: Bool
    var isPipe: Bool
    var isSalvage: Bool
    var isTwice: Bool
    var threadCount: Int
    var options: ExtractOptions
    var limits: ReadLimits

    init(_ choices: inout Choices) {
      let bits = choices.byte()
      isNew = bits & 1 == 0
      isPipe = bits & 2 != 0
      isTwice = bits & 4 != 0
      isSalvage = bits & 0x70 == 0x70
      threadCount = 1 + choices.below(3)
      options = ExtractOptions()
      options.syncs = false
      options.isLenient = bits & 8 != 0
      options.overwrite = choices.pick([.fail, .keep, .replace])
      let more = choices.byte()
      options.restoresOwner = more & 1 != 0 ? .automatic : .no
      options.restoresPermissions = more & 2 != 0 ? .automatic : .no
      options.restoresExtendedAttributes = more & 4 != 0
      options.usesNumericOwners = true
      options.createsDevices = more & 8 != 0
      options.stripComponentCount = more & 0x30 == 0x30 ? 1 : 0
      if more & 0xC0 == 0xC0 { options.selection = [Array("a".utf8)] }
      limits = ReadLimits()
      limits.memoryByteCount = 96 << 20
      if choices.chance(oneIn: 8) {
        limits.maximumEntryCount = UInt64(choices.below(6))
        limits.maximumContentByteCount = UInt64(choices.below(4000))
      }
    }
  }

  /// How an extraction ended.
  struct Outcome {
    var summary: ExtractSummary?
    var error: ArchiveError?
  }

  static func run(_ input: [UInt8], scratch: String, isAlone: Bool) throws(FuzzFailure) {
    var choices = Choices(input)
    let way = Way(&choices)
    let openBefore = isAlone ? Stage.descriptorCount() : 0
    try run(&choices, way, scratch: scratch)
    let openAfter = isAlone ? Stage.descriptorCount() : 0
    try require(openAfter == openBefore, "\(openBefore) open descriptors before, \(openAfter) after")
  }

  /// The stage goes away with the end of this function.
  private static func run(_ choices: inout Choices, _ given: Way, scratch: String) throws(FuzzFailure) {
    let stage = try mustSucceed("making the stage") { () throws(SystemError) in try Stage(in: scratch) }
    var way = given
    way.options.createsDevices = way.options.createsDevices && stage.isWithoutDevices
    let archive = ArchiveProgram(outside: stage.outside).archive(&choices)
    try mustSucceed("writing the archive") { () throws(SystemError) in try stage.write("archive", archive) }
    try check(stage, archive, way)
  }

  private static func check(_ stage: Stage, _ archive: [UInt8], _ way: Way) throws(FuzzFailure) {
    let first = try extract(stage, archive, way, to: "first")
    if way.isTwice {
      var other = way
      other.threadCount = way.threadCount % 3 + 1
      let second = try extract(stage, archive, other, to: "second")
      try compare(stage, way, first, second)
    }
    try Agreement(stage: stage, archive: archive, way: way).check(first)
  }

  /// Extracts to a name on the stage, and checks all that must hold whatever the archive is.
  private static func extract(
    _ stage: Stage, _ archive: [UInt8], _ way: Way, to name: String
  ) throws(FuzzFailure) -> Outcome {
    let place = Array(name.utf8)
    if !way.isNew {
      try mustSucceed("planting") { () throws(SystemError) in try stage.plant(name) }
    }
    let namesBefore = stage.names(in: [0x2E])
    let before = surroundings(stage)
    let outcome = run(stage, archive, way, to: stage.path + [0x2F] + place)
    let after = surroundings(stage)
    try require(before == after, "outside of the destination, before: \(before), after: \(after)")
    var expected = namesBefore
    let isThere = stage.names(in: [0x2E]).contains(place)
    if way.isNew, isThere { expected = (expected + [place]).sorted { $0.lexicographicallyPrecedes($1) } }
    try require(stage.names(in: [0x2E]) == expected, "names beside the destination: \(stage.names(in: [0x2E]))")
    if way.isNew {
      try require(isThere == (outcome.error == nil), "it ended with \(outcome), and is there: \(isThere)")
    }
    if way.isNew == false || outcome.error == nil {
      let left = stage.describe(place).filter { $0.contains(".starc-") }
      try require(left.isEmpty, "temporary names are left: \(left)")
    }
    return outcome
  }

  /// Without the number of links of the file that a planted destination shares: replacing the other name changes it.
  private static func surroundings(_ stage: Stage) -> [String] {
    stage.describe(Array("outside".utf8)).map { line in
      guard line.hasPrefix("outside/shared ") else { return line }
      return line.split(separator: " ").enumerated().filter { $0.offset != 5 }.map { String($0.element) }
        .joined(separator: " ")
    }
  }

  private static func run(_ stage: Stage, _ archive: [UInt8], _ way: Way, to path: [UInt8]) -> Outcome {
    var options = way.options
    options.limits = way.limits
    do throws(ArchiveError) {
      let reader = try reader(stage, archive, way, isPipe: way.isPipe)
      if way.isSalvage {
        return Outcome(summary: try reader.salvage(to: path, options: options, onLoss: { _, _ in }).restored)
      }
      return Outcome(summary: try reader.extract(to: path, options: options))
    } catch {
      return Outcome(error: error)
    }
  }

  /// A reader of the archive's file, or of a pipe that holds all of it if it is small enough.
  static func reader(
    _ stage: Stage, _ archive: [UInt8], _ way: Way, isPipe: Bool
  ) throws(ArchiveError) -> ArchiveReader {
    if isPipe, let pipe = FullPipe.holding(archive) {
      return try ArchiveReader(
        descriptor: pipe.descriptor.rawValue, limits: way.limits, threadCount: way.threadCount)
    }
    return try ArchiveReader(
      path: stage.path + Array("/archive".utf8), limits: way.limits, threadCount: way.threadCount)
  }

  /// The same archive gives the same tree for any number of threads.
  private static func compare(
    _ stage: Stage, _ way: Way, _ first: Outcome, _ second: Outcome
  ) throws(FuzzFailure) {
    try require(
      (first.error == nil) == (second.error == nil), "other threads, other outcome: \(first), then \(second)")
    guard let one = first.summary, let other = second.summary else { return }
    let counts = (one.entryCount, one.fileCount, one.contentByteCount, one.skippedCount)
    try require(
      counts == (other.entryCount, other.fileCount, other.contentByteCount, other.skippedCount),
      "other threads, other counts: \(one), then \(other)")
    let trees = ["first", "second"].map { name in
      stage.describe(Array(name.utf8), isComparable: true).map { $0.dropFirst(name.count) }
    }
    // Both share one file of the surroundings when they were planted; the second run may have taken its name away.
    guard way.isNew else { return }
    try require(trees[0] == trees[1], "other threads, other tree: \(trees[0]), then \(trees[1])")
  }
}

/// A pipe that was filled before it is read.
struct FullPipe: ~Copyable {
  let descriptor: Descriptor

  private init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

  /// nil when the bytes do not fit into a pipe.
  static func holding(_ bytes: [UInt8]) -> FullPipe? {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return nil }
    let reading = Descriptor(adopting: ends[0])
    let writing = Descriptor(adopting: ends[1])
    _ = fcntl(writing.rawValue, F_SETFL, O_NONBLOCK)
    // F_SETPIPE_SZ, which Glibc's module does not have.
    guard fcntl(writing.rawValue, 1031, 1 << 20) >= bytes.count else { return nil }
    let written = unsafe bytes.withUnsafeBytes { unsafe write(writing.rawValue, $0.baseAddress, $0.count) }
    return written == bytes.count ? FullPipe(reading) : nil
  }
}
