import ArchiveEngine
import ArchiveFormat
import ArchiveIO
import Foundation
import TestSupport
import Testing

/// What an estimate says against what a writer makes of the same tree.
@Suite(.inTemporaryDirectory(.memory), .timeLimit(.minutes(10))) struct SizeEstimatorTests {
  private func path() throws -> String { try #require(TemporaryDirectory.current).path }

  // MARK: Exact counts

  @Test func countsAreThoseOfTheWriter() throws {
    let directory = try #require(TemporaryDirectory.current)
    try FileTree.makeAwkward(in: directory.root.rawValue)
    let (estimate, summary) = try Estimating.both(directory.path)
    #expect(estimate.entryCount == summary.entryCount)
    #expect(estimate.fileCount == summary.fileCount)
    #expect(estimate.contentByteCount == summary.contentByteCount)
    // 3 MiB and 1 MiB, of which two blocks are data.
    #expect(estimate.contentByteCount - estimate.storedByteCount == (4 << 20) - 2 * 4096)
    Estimating.expectWithin(estimate, summary, part: 0.02)
  }

  @Test func everyInodeCountsOnce() throws {
    let path = try path()
    try FileTree.write([UInt8](repeating: 1, count: 10_000), to: path + "/a")
    for name in ["b", "c"] { try FileManager.default.linkItem(atPath: path + "/a", toPath: path + "/\(name)") }
    let (estimate, summary) = try Estimating.both(path)
    #expect(estimate.contentByteCount == 10_000)
    #expect(estimate.fileCount == 1)
    #expect(estimate.entryCount == summary.entryCount)
  }

  @Test func excludesAndSeveralTreesAreThoseOfTheWriter() throws {
    let path = try path()
    try Engine.makeTree(path + "/one", seed: 3, fileCount: 200)
    try Engine.makeTree(path + "/two", seed: 4, fileCount: 100)
    let (excluding, trees) = ([GlobPattern(Array("*/e1".utf8)), GlobPattern(Array("*7".utf8))], ["one", "two"])
    let estimator = try SizeEstimator()
    let writer = try ArchiveWriter(to: MemorySink())
    for tree in trees {
      let (source, name) = (Array((path + "/" + tree).utf8), Array(tree.utf8))
      try estimator.addTree(at: source, as: name, excluding: excluding)
      try writer.appendTree(at: source, as: name, excluding: excluding)
    }
    let (estimate, summary) = (try estimator.finish(), try writer.finish())
    #expect(estimate.entryCount == summary.entryCount)
    #expect(estimate.contentByteCount == summary.contentByteCount)
    #expect(estimate.tarByteCount == summary.tarByteCount)
    Estimating.expectWithin(estimate, summary, part: 0.02)
    #expect(throws: ArchiveError.self) { try estimator.finish() }
  }

  @Test func withoutSamplingOnlyTheCountsAreTold() throws {
    let path = try path()
    try FileTree.write([UInt8](repeating: 7, count: 3 << 20), to: path + "/a")
    try FileTree.makeSparse(
      in: try #require(TemporaryDirectory.current).root.rawValue, Array("holes".utf8), dataAt: [0], byteCount: 1 << 20)
    let estimate = try Estimating.estimate(path, samples: false)
    #expect(estimate.contentByteCount == 4 << 20)
    #expect(estimate.storedByteCount == 3 << 20 + 4096)
    #expect(estimate.archiveByteCount == 0)
    #expect(estimate.sampledByteCount == 0)
  }

  // MARK: Small and odd trees

  @Test func emptyTreeIsNearlyExact() throws {
    let path = try path()
    let (estimate, summary) = try Estimating.both(path)
    #expect(estimate.entryCount == 1)
    Estimating.expectWithin(estimate, summary, part: 0.2)
  }

  @Test(arguments: [0, 1, 100_000, 2 << 20, 5 << 20]) func singleFile(byteCount: Int) throws {
    let path = try path() + "/f"
    var random = SplitMix64(seed: UInt64(byteCount))
    try FileTree.write(random.bytes(byteCount), to: path)
    let (estimate, summary) = try Estimating.both(path)
    #expect(estimate.contentByteCount == UInt64(byteCount))
    Estimating.expectWithin(estimate, summary, part: byteCount < 1000 ? 0.2 : 0.01)
  }

  @Test func socketsAreNamedAndFifosAreNotOpened() throws {
    let path = try path()
    try Shell.script(
      "mkfifo fifo; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; ln -s /dev/zero zero",
      directory: path)
    let named = Locked<[[UInt8]]>([])
    let estimate = try Estimating.estimate(path, onWarning: { warning in named.withLock { $0.append(warning.path) } })
    #expect(named.withLock { $0 } == [Array("tree/s".utf8)])
    #expect(estimate.warningCount == 1)
    #expect(estimate.entryCount == 3)
  }

  @Test func aTreeThatIsNotThereIsAnError() throws {
    let missing = try path() + "/missing"
    let error = #expect(throws: ArchiveError.self) { try Estimating.estimate(missing) }
    #expect(error?.code == .notFound)
  }

  // MARK: Sampled trees

  /// Several kinds of content, of which only a part is compressed for the estimate.
  @Test(arguments: Estimating.Kind.allCases, [1, 2] as [UInt64])
  func sampledTreesAreWithinTheirBounds(kind: Estimating.Kind, seed: UInt64) throws {
    let path = try path()
    print("seed \(seed)")
    try kind.make(path, seed: seed)
    let (estimate, summary) = try Estimating.both(path)
    #expect(estimate.contentByteCount == summary.contentByteCount)
    #expect(estimate.sampledByteCount < summary.tarByteCount / 2, "this is no sample")
    // Archives of nearly nothing are all headers.
    Estimating.expectWithin(estimate, summary, part: kind == .zeros ? 0.4 : 0.05)
    let width = estimate.archiveByteCountHigh - estimate.archiveByteCountLow
    // The mixed one changes between noise and text every megabyte, and so many pieces are all that level 5 has time for.
    let widest = kind == .mixed ? 7 : 4
    #expect(kind == .zeros || width < summary.archiveByteCount * UInt64(widest) / 10, "bounds that say nothing")
  }

  @Test func theSameForAnyNumberOfThreads() throws {
    let path = try path()
    try Estimating.Kind.mixed.make(path, seed: 5)
    let estimates = try [1, 2, 5, 2].map { count in
      var estimate = try Estimating.estimate(path, options: { $0.threadCount = count })
      estimate.seconds = 0
      return estimate
    }
    for estimate in estimates { #expect(estimate == estimates[0]) }
  }

  /// With few candidates, as in trees of many gigabytes, what was not looked at is inferred.
  @Test func droppedCandidatesAreInferred() throws {
    let path = try path()
    try Estimating.Kind.mixed.make(path, seed: 6)
    let (estimate, summary) = try Estimating.both(path, prepare: { $0.maximumCandidateCount = 40 })
    #expect(summary.chunkCount > 80, "no candidate was dropped")
    #expect(estimate.contentByteCount == summary.contentByteCount)
    Estimating.expectWithin(estimate, summary, part: 0.15)
  }

  @Test func storedArchivesAreNearlyExact() throws {
    let path = try path()
    try Estimating.Kind.mixed.make(path, seed: 7)
    let (estimate, summary) = try Estimating.both(path, options: { $0.level = 0 })
    Estimating.expectWithin(estimate, summary, part: 0.002)
  }

  // MARK: The end before the end

  @Test func cancelledBeforeAndWhileItRuns() throws {
    let path = try path()
    try Estimating.Kind.text.make(path, seed: 8)
    let token = CancellationToken()
    let estimator = try SizeEstimator(cancellation: token)
    try estimator.addTree(at: Array(path.utf8), as: Array("tree".utf8))
    token.cancel()
    let late = #expect(throws: ArchiveError.self) { try estimator.finish() }
    #expect(late?.code == .cancelled)
    let early = #expect(throws: ArchiveError.self) {
      let estimator = try SizeEstimator(cancellation: token)
      try estimator.addTree(at: Array(path.utf8), as: Array("tree".utf8))
      _ = try estimator.finish()
    }
    #expect(early?.code == .cancelled)
    // One that is given up ends its threads, or this would not come back.
    let abandoned = try SizeEstimator()
    try abandoned.addTree(at: Array(path.utf8), as: Array("tree".utf8))
  }

  @Test func filesThatVanishMeanwhileDoNoHarm() throws {
    let path = try path()
    try Estimating.Kind.text.make(path, seed: 9)
    let estimator = try SizeEstimator(options: Estimating.options)
    try estimator.addTree(at: Array(path.utf8), as: Array("tree".utf8))
    try FileManager.default.removeItem(atPath: path + "/d0")
    #expect(try estimator.finish().archiveByteCount > 0)
  }
}
