import ArchiveFormat
import ArchiveIO
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ArchiveEngine

/// What a run says of itself. Also run under the sanitizers, since lanes, drain and control thread all report.
@Suite(.inTemporaryDirectory(.memory), .timeLimit(.minutes(10))) struct ProfileSanitized {
  private func directory() throws -> TemporaryDirectory { try #require(TemporaryDirectory.current) }

  /// Processor time of this process. Other tests run in it as well, so a run can only have taken less.
  private func processNanoseconds() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Keeps a processor busy, until this thread has used so much time.
  private func work(milliseconds: UInt64) {
    let end = Clocks.threadNanoseconds + milliseconds * 1_000_000
    while Clocks.threadNanoseconds < end {}
  }

  @Test func creatingTellsSectionsAndLanesAndChangesNothing() throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 21, fileCount: 300, largeByteCount: 900_000)
    let expected = try Engine.archive(directory.file("t"), threads: 3)
    let profile = RunProfile()
    let before = processNanoseconds()
    let archive = try Engine.archive(directory.file("t"), threads: 3) { $0.profile = profile }
    let spent = processNanoseconds() - before
    #expect(archive == expected)
    let snapshot = profile.snapshot()
    let names = Set(snapshot.sections.map(\.name))
    #expect(names == ["planning", "member hash", "drain", "pages", "index"])
    #expect(snapshot.lanes.count == 3)
    #expect(snapshot.parallelNanoseconds > 0)
    #expect(snapshot.cpuNanoseconds <= spent, "time was counted twice")
    #expect(snapshot.serialFraction > 0 && snapshot.serialFraction < 1)
  }

  @Test(arguments: [true, false]) func extractingTellsSectionsAndLanesAndChangesNothing(isPipe: Bool) throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 22, fileCount: 300, largeByteCount: 900_000)
    let archive = try Engine.archive(directory.file("t"))
    let profile = RunProfile()
    var options = ExtractOptions()
    options.profile = profile
    let before = processNanoseconds()
    if isPipe {
      try Engine.withPipe(archive) { descriptor in
        _ = try ArchiveReader(descriptor: descriptor, threadCount: 2).extract(
          to: Array(directory.file("out").utf8), options: options)
      }
    } else {
      _ = try Engine.reader(archive, in: directory).extract(to: Array(directory.file("out").utf8), options: options)
    }
    let spent = processNanoseconds() - before
    #expect(try Engine.archive(directory.file("out/tree")) == archive)
    let snapshot = profile.snapshot()
    let names = Set(snapshot.sections.map(\.name))
    #expect(names.isSuperset(of: ["planning", "links", "directories", "commit"]))
    #expect(!names.contains("survey"), "a new destination needs none")
    #expect(names.contains("member hash") == !isPipe)
    #expect(snapshot.lanes.count == 2)
    #expect(snapshot.parallelNanoseconds > 0)
    #expect(snapshot.cpuNanoseconds <= spent, "time was counted twice")
  }

  /// Where something could stay behind, or is bounded, the index is looked at first.
  @Test func theIndexIsSurveyedWhereThatMatters() throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 25, fileCount: 60)
    let path = Array(directory.file("a.tar.zst").utf8)
    try FileTree.write(try Engine.archive(directory.file("t")), to: directory.file("a.tar.zst"))
    func isSurveyed(
      _ name: String, _ limits: ReadLimits = .init(), _ change: (inout ExtractOptions) -> Void = { _ in }
    ) throws -> Bool {
      var options = ExtractOptions()
      let profile = RunProfile()
      options.profile = profile
      change(&options)
      _ = try ArchiveReader(path: path, limits: limits).extract(
        to: Array(directory.file(name).utf8), options: options)
      return profile.snapshot().sections.contains { $0.name == "survey" }
    }
    #expect(try !isSurveyed("new"))
    #expect(try isSurveyed("limited", .imports))
    #expect(try isSurveyed("selected") { $0.selection = [Array("tree/d0".utf8)] })
    try FileManager.default.createDirectory(atPath: directory.file("there"), withIntermediateDirectories: false)
    #expect(try isSurveyed("there"))
    #expect(try isSurveyed("there") { $0.overwrite = .replace })
  }

  @Test func runsThatShareAProfileAddUp() throws {
    let directory = try directory()
    try Engine.makeTree(directory.file("t"), seed: 23, fileCount: 100)
    let profile = RunProfile()
    _ = try Engine.archive(directory.file("t"), threads: 2) { $0.profile = profile }
    let first = profile.snapshot()
    _ = try Engine.archive(directory.file("t"), threads: 2) { $0.profile = profile }
    let second = profile.snapshot()
    #expect(second.lanes.count == 4)
    #expect(Array(second.lanes.prefix(2)) == first.lanes)
    #expect(second.orderedNanoseconds > first.orderedNanoseconds)
  }

  @Test func callsWithinCallsAreCountedOnce() throws {
    let profile = RunProfile()
    var options = WriterOptions()
    options.profile = profile
    let before = processNanoseconds()
    let writer = try ArchiveWriter(to: MemorySink(), options: options)
    for index in 0..<50 {
      _ = try writer.appendItem(
        Member(path: Array("item\(index)".utf8), kind: .file), content: [UInt8](repeating: 7, count: 3_000))
    }
    var member = Member(path: Array("streamed".utf8), kind: .file)
    member.byteCount = 1_000
    try writer.append(member, read: Engine.stream([UInt8](repeating: 1, count: 1_000), step: 300))
    _ = try writer.finish()
    #expect(profile.snapshot().cpuNanoseconds <= processNanoseconds() - before)
    #expect(profile.snapshot().sections.contains { $0.name == "planning" })
  }

  @Test func aSinkThatIsSlowMakesTheControlThreadWait() throws {
    let profile = RunProfile()
    var options = WriterOptions()
    options.profile = profile
    options.threadCount = 1
    options.chunkByteCount = 64 << 10
    // Time that passes while a frame is written; the writer has three slots for some forty chunks.
    let sink = MemorySink(before: { _ in usleep(2_000) })
    let writer = try ArchiveWriter(to: sink, options: options)
    var random = SplitMix64(seed: 24)
    for index in 0..<40 {
      try writer.append(Member(path: Array("m\(index)".utf8), kind: .file), content: random.bytes(60_000))
    }
    _ = try writer.finish()
    let snapshot = profile.snapshot()
    #expect(snapshot.controlWaitNanoseconds > 2_000_000)
    #expect(snapshot.lanes.allSatisfy { $0.jobWaitNanoseconds > 0 })
    // Waiting is not work.
    #expect(snapshot.sections.allSatisfy { $0.cpuNanoseconds < 10_000_000_000 })
  }

  @Test func aPieceThatComesEarlyWaitsForTheChain() throws {
    let profile = RunProfile()
    let lane = profile.addLane()
    // Whether the later piece is there first is up to the scheduler: tried until it was.
    while profile.snapshot().lanes[0].chainWaitNanoseconds == 0 {
      let chain = try HashChain()
      let (stop, done) = (StopSignal(), DispatchSemaphore(value: 0))
      Thread {
        let bytes: [UInt8] = [4, 5, 6]
        _ = unsafe bytes.withUnsafeBytes { try? unsafe chain.update(1, $0, stop: stop, profile: lane) }
        done.signal()
      }.start()
      usleep(1_000)
      let bytes: [UInt8] = [1, 2, 3]
      try unsafe bytes.withUnsafeBytes { try unsafe chain.update(0, $0, stop: stop) }
      done.wait()
      #expect(chain.finish().hash == XXH3.hash128([1, 2, 3, 4, 5, 6].span))
    }
    #expect(profile.snapshot().sections.map(\.name) == ["member hash"])
  }

  @Test func aSectionWithinAnotherTakesItsTimeAway() {
    let profile = RunProfile()
    Optional(profile).measure(.planning) {
      work(milliseconds: 4)
      Optional(profile).measure(.links, within: .planning) { work(milliseconds: 12) }
    }
    let times = Dictionary(uniqueKeysWithValues: profile.snapshot().sections.map { ($0.name, $0.cpuNanoseconds) })
    #expect(times["links"] ?? 0 >= 12_000_000)
    #expect((4_000_000..<12_000_000).contains(times["planning"] ?? 0))
  }

  @Test func orderedWorkOfALaneIsNotTheLanesOwn() {
    let profile = RunProfile()
    let lane: LaneProfile? = profile.addLane()
    var jobs = [1, 2]
    lane.run({ jobs.popLast() }) { _ in
      work(milliseconds: 3)
      lane.ordered(.memberHash) { work(milliseconds: 9) }
    }
    let snapshot = profile.snapshot()
    #expect(snapshot.orderedNanoseconds >= 18_000_000)
    #expect((6_000_000..<18_000_000).contains(snapshot.parallelNanoseconds))
    #expect(snapshot.serialFraction > 0.5)
  }

  @Test func speedUpFollowsAmdahl() {
    var lane = RunProfile.Lane()
    lane.cpuNanoseconds = 485
    let snapshot = RunProfile.Snapshot(
      sections: [.init(name: "a", cpuNanoseconds: 10), .init(name: "b", cpuNanoseconds: 20)], lanes: [lane, lane],
      controlWaitNanoseconds: 0)
    #expect(snapshot.serialFraction == 0.03)
    #expect(abs(snapshot.predictedSpeedUp(cores: 16) - 11.0345) < 0.0001)
    #expect(abs(snapshot.predictedSpeedUp(cores: 64) - 22.1453) < 0.0001)
    #expect(snapshot.predictedSpeedUp(cores: 1) == 1)
    #expect(RunProfile().snapshot().serialFraction == 0)
  }
}
