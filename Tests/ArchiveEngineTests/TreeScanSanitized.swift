import ArchiveIO
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import ArchiveEngine

/// A walk for which threads look ahead takes the steps of one that looks itself.
@Suite(.inTemporaryDirectory(.memory), .timeLimit(.minutes(10))) struct TreeScanSanitized {
  private let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  /// Paths, sizes and kinds, or what went wrong.
  private static func text(_ step: WalkStep) -> String {
    switch step {
    case .entry(let entry):
      #expect(entry.name == Array(entry.relativePath[entry.nameOffset...]))
      let path = String(decoding: entry.relativePath, as: UTF8.self)
      return "\(path) \(entry.status.kind) \(entry.status.byteCount) \(entry.status.inode)"
    case .failure(let error): return "\(error.call) \(error.errno) \(String(decoding: error.path, as: UTF8.self))"
    }
  }

  private func scan(
    laneCount: Int, staysOnFileSystem: Bool = false, isExcluded: (@Sendable ([UInt8]) -> Bool)? = nil
  ) throws -> [String] {
    let scan = try TreeScan(
      root: directory.root, staysOnFileSystem: staysOnFileSystem, laneCount: laneCount, isExcluded: isExcluded)
    var steps: [String] = []
    while let step = scan.next() { steps.append(Self.text(step)) }
    if scan.next() != nil { Issue.record("a step behind the last") }
    return steps
  }

  private func walk() throws -> [String] {
    let walker = try DirectoryWalker(root: directory.root)
    var steps: [String] = []
    while let step = walker.next() { steps.append(Self.text(step)) }
    return steps
  }

  /// Directories within directories at random, some empty and some with more entries than are looked at in one go.
  private func makeTree(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func fill(_ path: String, depth: Int) throws {
      let count = random.next() % 12 == 0 ? 1500 : Int(random.next() % 20)
      for number in 0..<count { try FileTree.write([], to: "\(path)/\(random.next() % 1000)-\(number)") }
      guard depth < 5 else { return }
      for number in 0..<Int(random.next() % 6) {
        let inner = "\(path)/\(random.next() % 1000)d\(number)"
        try FileSystem.makeDirectory(at: FileSystem.currentDirectory, Array(inner.utf8), mode: 0o755)
        try fill(inner, depth: depth + 1)
      }
    }
    try fill(directory.path, depth: 0)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>) func takesTheStepsOfAWalk(seed: UInt64) throws {
    print("seed \(seed)")
    try makeTree(seed: seed)
    let expected = try walk()
    for laneCount in [0, 1, 2, 5] { #expect(try scan(laneCount: laneCount) == expected, "\(laneCount) lanes") }
  }

  @Test(arguments: [0, 1, 3]) func excludedDirectoriesAreNotEntered(laneCount: Int) throws {
    try Shell.script(
      "mkdir -p a/b/c a/x/y; touch a/1 a/b/2 a/b/c/3 a/x/y/4; mkdir -m 0 a/closed", directory: directory.path)
    let steps = try scan(laneCount: laneCount) { path in path == Array("a/b".utf8) || path == Array("a/closed".utf8) }
    #expect(steps.map { $0.split(separator: " ")[0] } == ["a", "a/1", "a/x", "a/x/y", "a/x/y/4"])
  }

  /// As a plain user: one directory may not be read, and in one nothing may be looked at.
  @Test(arguments: [0, 1, 3]) func whatCannotBeReadIsAFailureAndTheWalkGoesOn(laneCount: Int) async throws {
    await #expect(processExitsWith: .success) { [laneCount] in
      let directory = try TemporaryDirectory(.memory)
      try Shell.script("mkdir a b c; touch a/1 b/2 c/3; chmod 0 b; chmod 444 c; chmod 755 .", directory: directory.path)
      guard Limits.becomePlainUser() else { return }
      let scan = try TreeScan(root: directory.root, staysOnFileSystem: false, laneCount: laneCount, isExcluded: nil)
      var steps: [String] = []
      while let step = scan.next() {
        switch step {
        case .entry(let entry): steps.append(String(decoding: entry.relativePath, as: UTF8.self))
        case .failure(let error):
          steps.append("\(error.call) \(error.errno == EACCES) \(String(decoding: error.path, as: UTF8.self))")
        }
      }
      #expect(steps == ["a", "a/1", "b", "openat true b", "c", "statx true c/3"])
    }
  }

  @Test func aRootThatCannotBeReadIsAnError() throws {
    try FileTree.write([], to: directory.file("f"))
    let file = SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(directory.file("f").utf8), .readOnly))
    #expect(throws: SystemError.self) {
      try TreeScan(root: file, staysOnFileSystem: false, laneCount: 2, isExcluded: nil)
    }
  }

  /// The threads end, wherever the walk was given up, or this would not come back.
  @Test func oneThatIsGivenUpEndsItsThreads() throws {
    try makeTree(seed: 11)
    for count in [0, 1, 7, 100] {
      let scan = try TreeScan(root: directory.root, staysOnFileSystem: false, laneCount: 3, isExcluded: nil)
      for _ in 0..<count { _ = scan.next() }
    }
  }

  /// Whoever lets go of the deepest directory last, on whatever thread, does not need a stack as deep as the tree.
  @Test func deepTreesAreLetGoOfWithoutRecursion() {
    func chain() -> Handoff<[ScannedDirectory]> {
      var directory = ScannedDirectory()
      for _ in 0..<300_000 { directory = ScannedDirectory([97], in: directory) }
      return Handoff([directory])
    }
    let group = DispatchGroup()
    let held = Locked<[Handoff<[ScannedDirectory]>]>([chain()])
    DispatchQueue(label: "release").async(group: group) { held.withLock { $0.removeAll() } }
    group.wait()
    #expect(held.withLock { $0.isEmpty })
  }

  /// Nor does it keep what was looked at ahead, 1,500 entries a time.
  @Test func oneThatIsGivenUpKeepsNothing() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      try Shell.script(
        "for d in $(seq 1 30); do mkdir -p m/$d; (cd m/$d; seq 1 50 | xargs touch); done", directory: directory.path)
      func giveUp() throws {
        let scan = try TreeScan(root: directory.root, staysOnFileSystem: false, laneCount: 2, isExcluded: nil)
        // Far enough that some is there, and that some is being looked at.
        for _ in 0..<200 { _ = scan.next() }
      }
      for _ in 0..<20 { try giveUp() }
      let before = try ProcessMemory.anonymousByteCount()
      for _ in 0..<300 { try giveUp() }
      let growth = try ProcessMemory.anonymousByteCount() - before
      #expect(growth < 12 << 20, "\(growth) bytes more")
    }
  }

  /// Directories within directories, each with more names than are looked at in one go: no descriptor stays open for any of them.
  @Test(arguments: [0, 2]) func manyHalfReadDirectoriesTakeNoDescriptors(laneCount: Int) async {
    await #expect(processExitsWith: .success) { [laneCount] in
      let directory = try TemporaryDirectory(.memory)
      try Shell.script(
        "for d in $(seq 1 80); do mkdir 0; seq 1 1100 | xargs touch; cd 0; done", directory: directory.path)
      Limits.leaveDescriptors(40)
      let scan = try TreeScan(root: directory.root, staysOnFileSystem: false, laneCount: laneCount, isExcluded: nil)
      var count = 0
      while let step = scan.next() {
        if case .failure(let error) = step { Issue.record("\(error)") }
        count += 1
      }
      #expect(count == 80 * 1101)
    }
  }

  /// Far more than is looked at ahead, in one directory and in many.
  @Test func moreThanIsLookedAtAhead() throws {
    try Shell.script(
      "mkdir w; (cd w; seq 1 40000 | xargs touch); for d in $(seq 1 60); do mkdir -p m/$d; (cd m/$d; seq 1 600 | xargs touch); done",
      directory: directory.path)
    let expected = try walk()
    for laneCount in [0, 1, 2] { #expect(try scan(laneCount: laneCount) == expected, "\(laneCount) lanes") }
  }

  @Test(.enabled(if: ProcessFacts.effectiveUserID == 0), arguments: [0, 2]) func oneFileSystem(laneCount: Int) throws {
    let inner = directory.file("mounted")
    try Shell.script("mkdir -p before mounted; touch before/x", directory: directory.path)
    guard (try? Shell.script("mount -t tmpfs t \(inner); touch \(inner)/inside")) != nil else { return }
    defer { _ = try? Shell.script("umount \(inner)") }
    func names(_ staysOnFileSystem: Bool) throws -> [Substring] {
      try scan(laneCount: laneCount, staysOnFileSystem: staysOnFileSystem).map { $0.split(separator: " ")[0] }
    }
    #expect(try names(false) == ["before", "before/x", "mounted", "mounted/inside"])
    #expect(try names(true) == ["before", "before/x", "mounted"])
  }
}
