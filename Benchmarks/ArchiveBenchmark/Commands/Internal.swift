internal import ArchiveEngine
internal import ArchiveIO
internal import BenchmarkKit
internal import BenchmarkSupport
internal import CommandLineTool
internal import Foundation

extension Command {
  static let `internal` = Command(
    name: "internal",
    summary: "one measurement in a process of its own; run starts this",
    usage: [LibraryMeasurement.Kind.allCases.map(\.rawValue).joined(separator: "|") + " THREADS LEVEL PATH [RESULT]"],
    details: [
      "Calls the library, so that its memory and CPU time stand apart from the benchmark's own. The answer is a line of JSON."
    ],
    options: [],
    examples: ["archive-benchmark internal read-files 2 3 /usr/share"],
    prepare: { arguments, _ throws(Failure) in
      let measurement = try LibraryMeasurement(arguments.operands)
      return { session throws(Failure) in
        try session.output.write(try measurement.run(session.cancellation) + [0x0A])
        return .clean
      }
    })
}

/// Something that is measured by calling the library.
struct LibraryMeasurement: Sendable {
  /// What.
  enum Kind: String, Sendable, CaseIterable {
    /// PATH is a directory.
    case estimate
    /// The archive of the directory PATH becomes RESULT.
    case profileCreate = "profile-create"
    /// The tree of the archive PATH becomes RESULT.
    case profileExtract = "profile-extract"
    /// PATH is an archive.
    case codec
    /// PATH is a directory.
    case readFiles = "read-files"
    /// Files like those of the directory PATH become RESULT, which is taken away again.
    case makeFiles = "make-files"
  }

  /// What a limit is.
  struct Limit: Codable {
    var seconds: Double
    /// Of the codec's two directions the other one.
    var decompressionSeconds: Double?
  }

  private let kind: Kind
  private let threadCount: Int
  private let level: Int
  private let path: String
  private let result: String?

  /// Understands the operands of the command.
  init(_ operands: [[UInt8]]) throws(Failure) {
    let words = operands.map { String(decoding: $0, as: UTF8.self) }
    guard (4...5).contains(words.count), let kind = Kind(rawValue: words[0]), let threads = Int(words[1]),
      let level = Int(words[2]), (1...256).contains(threads)
    else { throw .usage("a measurement, a number of threads, a level and a path are needed") }
    let needsResult = [.profileCreate, .profileExtract, .makeFiles].contains(kind)
    guard needsResult == (words.count == 5) else {
      throw .usage("\(kind.rawValue) \(needsResult ? "needs a place for its result" : "leaves no result")")
    }
    self.kind = kind
    threadCount = threads
    self.level = level
    path = words[3]
    result = words.count == 5 ? words[4] : nil
  }

  /// The operands that ask for it.
  static func operands(_ kind: Kind, threads: Int, level: Int, path: String, result: String? = nil) -> [String] {
    [kind.rawValue, String(threads), String(level), path] + (result.map { [$0] } ?? [])
  }

  /// Measures.
  func run(_ cancellation: CancellationToken) throws(Failure) -> [UInt8] {
    switch kind {
    case .estimate: try encode(EstimateCall.run(path, threadCount: threadCount, level: level, cancellation))
    case .profileCreate: try encode(profileCreate(cancellation))
    case .profileExtract: try encode(profileExtract(cancellation))
    case .codec:
      try encode(
        limit {
          let found = try CodecLimit.measure(archive: path, level: level, threadCount: threadCount)
          return Limit(seconds: found.compression.seconds, decompressionSeconds: found.decompression.seconds)
        })
    case .readFiles:
      try encode(
        limit { Limit(seconds: try FileLimit.reading(directory: path, threadCount: threadCount).seconds) })
    case .makeFiles:
      try encode(
        limit {
          Limit(seconds: try FileLimit.creating(treeLike: path, at: result ?? "", threadCount: threadCount).seconds)
        })
    }
  }

  private func limit(_ body: () throws -> Limit) throws(Failure) -> Limit {
    do { return try body() } catch { throw .failed("\(kind.rawValue): \(error)") }
  }

  private func encode(_ value: some Encodable) throws(Failure) -> [UInt8] {
    guard let data = try? JSONEncoder().encode(value) else { throw .failed("\(kind.rawValue): a result is no number") }
    return Array(data)
  }

  // MARK: Profiles

  private func profileCreate(_ cancellation: CancellationToken) throws(Failure) -> ProfileResult {
    let name = Array((result ?? "").utf8)
    let file = try system(about: name) { () throws(SystemError) in
      try FileSystem.open(at: FileSystem.currentDirectory, name, [.writeOnly, .create, .truncate], mode: 0o644)
    }
    let profile = RunProfile()
    var options = WriterOptions()
    options.threadCount = threadCount
    options.level = level
    options.profile = profile
    try engine(about: Array(path.utf8)) { () throws(ArchiveError) in
      let writer = try ArchiveWriter(to: file.rawValue, options: options, cancellation: cancellation)
      try writer.appendTree(at: Array(path.utf8), as: [0x2E])
      _ = try writer.finish()
    }
    return Self.summary(.create, profile.snapshot())
  }

  private func profileExtract(_ cancellation: CancellationToken) throws(Failure) -> ProfileResult {
    let profile = RunProfile()
    var options = ExtractOptions()
    options.threadCount = threadCount
    options.syncs = false
    options.profile = profile
    try engine(about: Array(path.utf8)) { () throws(ArchiveError) in
      let reader = try ArchiveReader(path: Array(path.utf8), cancellation: cancellation)
      _ = try reader.extract(to: Array((result ?? "").utf8), options: options)
    }
    return Self.summary(.extract, profile.snapshot())
  }

  private static func summary(_ operation: Operation, _ snapshot: RunProfile.Snapshot) -> ProfileResult {
    func seconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / 1e9 }
    return ProfileResult(
      operation: operation,
      sections: snapshot.sections.map { .init(name: $0.name, cpuSeconds: seconds($0.cpuNanoseconds)) },
      lanes: snapshot.lanes.map {
        .init(cpuSeconds: seconds($0.cpuNanoseconds), waitSeconds: seconds($0.waitNanoseconds))
      },
      serialFraction: snapshot.serialFraction)
  }
}
