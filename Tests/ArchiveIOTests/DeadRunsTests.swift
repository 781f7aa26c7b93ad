import ArchiveIO
import Glibc
import TestSupport
import Testing

/// What a killed run leaves in a directory that is in use goes with the next one; nothing else does.
///
/// Each test has a process of its own: programs that other tests start would hold the locks of dead runs for a moment.
@Suite struct DeadRunsTests {
  /// A directory in which a run was at work, with the names that it has left.
  fileprivate struct Scene {
    let place: TemporaryDirectory
    let run: RunName
    let mark: RunMark

    init(_ place: TemporaryDirectory) throws {
      self.place = place
      run = try RunName()
      mark = try #require(try RunMark.make(run, in: place.root))
      try Shell.script("mkdir -p a/b; touch kept a/kept", directory: place.path)
      for (number, path) in ["", "a/", "a/b/"].enumerated() {
        try FileTree.write(
          [1], to: place.file(path + String(decoding: run.temporaryName(UInt64(number)), as: UTF8.self)))
      }
    }

    /// The run is killed: its lock goes, the file stays.
    consuming func die() { mark.leave() }

    func cleanUp() -> SystemError? { DeadRuns.cleanUp(place.root, shallStop: { false }) }

    /// All names of ours, sorted.
    func names() throws -> String {
      try Shell.script("find . -mindepth 1 -name '*starc*' -printf '%P\n' | sort", directory: place.path)
    }
  }

  @Test func whatADeadRunLeftGoes() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      do {
        let scene = try Scene(place)
        #expect(try scene.names().split(separator: "\n").count == 4)
        scene.die()
      }
      #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
      let left = try Shell.script("find . -mindepth 1 | LC_ALL=C sort", directory: place.path)
      #expect(left == "./a\n./a/b\n./a/kept\n./kept\n")
    }
  }

  @Test func aLiveRunKeepsItsFilesAndEndsWithoutAMark() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      do {
        let scene = try Scene(place)
        let before = try scene.names()
        #expect(scene.cleanUp() == nil)
        #expect(try scene.names() == before)
      }
      #expect(try Shell.script("ls -A | grep -c lock || true", directory: place.path) == "0\n")
    }
  }

  /// A run that ends in order, but could not remove a file, leaves the mark; so does a cleaning that is stopped.
  @Test func aMarkThatIsLeftIsForLater() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      do { try Scene(place).die() }
      let before = try Shell.script("find . | sort", directory: place.path)
      #expect(DeadRuns.cleanUp(place.root, shallStop: { true }) == nil)
      #expect(try Shell.script("find . | sort", directory: place.path) == before)
      #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
      #expect(try Shell.script("find . -name '*starc*'", directory: place.path) == "")
    }
  }

  /// Files of another dead run, of a live one, and names that only look like ours stay.
  @Test(arguments: [
    "touch .starc-aaaaaaaaaaaa.lock .starc-aaaaaaaaaaaa-1.tmp", "mkdir .starc-aaaaaaaaaaaa.lock",
    "ln -s kept .starc-aaaaaaaaaaaa.lock; touch .starc-aaaaaaaaaaaa-1.tmp", "mkfifo .starc-aaaaaaaaaaaa.lock",
    // A mark that was copied, or came out of an archive: it names another inode.
    "for m in .starc-*.lock; do cp -p $m .starc-aaaaaaaaaaaa.lock; done; touch .starc-aaaaaaaaaaaa-1.tmp",
    "for m in .starc-*.lock; do cp -p $m a; done; touch a/.starc-aaaaaaaaaaaa-1.tmp",
    // Names of the dead run in every form but its own.
    "for m in .starc-*.lock; do r=${m%.lock}; touch $r-.tmp $r-1 $r-1.tmpx x$r-1.tmp $r-1x.tmp $r.tmp $r--1.tmp; done",
    "for m in .starc-*.lock; do mkdir -p ${m%.lock}-7.tmp/x ${m%.lock}-8.tmp; done",
  ])
  func whatIsNotOursStays(_ script: String) async {
    await #expect(processExitsWith: .success) { [script] in
      let place = try TemporaryDirectory(.memory)
      do { try Scene(place).die() }
      let ours = try Shell.script("find . -name '*starc*' | sort", directory: place.path)
      try Shell.script(script + "; find . | sort > list", directory: place.path)
      #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
      let before = Set(try Shell.script("cat list", directory: place.path).split(separator: "\n"))
      let after = Set(try Shell.script("find .", directory: place.path).split(separator: "\n"))
      #expect(before.subtracting(after) == Set(ours.split(separator: "\n")))
    }
  }

  /// No link is followed out of the directory, and none on the way.
  @Test func linksAreNotFollowed() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      let scene = try Scene(place)
      let name = String(decoding: scene.run.temporaryName(99), as: UTF8.self)
      try Shell.script(
        "mkdir -p elsewhere in; touch elsewhere/\(name); ln -s ../elsewhere in/link", directory: place.path)
      let inner = SharedDescriptor(
        try FileSystem.open(at: place.root.rawValue, Array("in".utf8), [.readOnly, .directory]))
      let run = try RunName()
      let mark = try #require(try RunMark.make(run, in: inner))
      try Shell.script(
        "touch elsewhere/\(String(decoding: run.temporaryName(1), as: UTF8.self))", directory: place.path)
      mark.leave()
      _ = consume mark
      #expect(DeadRuns.cleanUp(inner, shallStop: { false }) == nil)
      #expect(try Shell.script("ls -A elsewhere | wc -l", directory: place.path) == "2\n")
    }
  }

  /// Many runs that clean up at the same time neither fail nor touch the files of one another.
  @Test func manyAtOnce() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      for _ in 0..<30 {
        do { try Scene(place).die() }
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<4 {
            group.addTask {
              #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
              guard let run = try? RunName(), let mark = try? RunMark.make(run, in: place.root) else {
                Issue.record("no mark")
                return
              }
              let own = place.file("a/" + String(decoding: run.temporaryName(1), as: UTF8.self))
              #expect(throws: Never.self) { try FileTree.write([1], to: own) }
              #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
              #expect(throws: Never.self) { _ = try FileTree.read(own) }
              #expect(throws: Never.self) {
                try FileSystem.removeFile(at: FileSystem.currentDirectory, Array(own.utf8))
              }
              withExtendedLifetime(mark) {}
            }
          }
        }
        #expect(try Shell.script("find . -name '*starc*'", directory: place.path) == "")
      }
    }
  }

  /// A directory in which nothing may be made gets no mark, which is no error.
  @Test(.enabled(if: ProcessFacts.effectiveUserID == 0)) func whereNothingCanBeMade() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      guard Limits.becomePlainUser() else { return }
      #expect(try RunMark.make(RunName(), in: place.root) == nil)
      #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
    }
  }

  /// Every call fails once: there is a mark and it goes, or there is an error and no file; the next cleaning takes the rest.
  @Test func anyCallFails() async {
    await #expect(processExitsWith: .success) {
      let place = try TemporaryDirectory(.memory)
      for errno in [EIO, ENOSPC, EMFILE, EOPNOTSUPP, EACCES] {
        var nth = 0
        var wasDelivered = true
        while wasDelivered {
          nth += 1
          FaultInjection.arm("*", nth: nth, kind: .error(errno))
          do {
            let run = try RunName()
            if let mark = try RunMark.make(run, in: place.root) {
              mark.leave()
              let file = try FileSystem.open(at: place.root.rawValue, run.temporaryName(1), [.writeOnly, .create])
              try file.close()
            }
          } catch is SystemError {}
          _ = DeadRuns.cleanUp(place.root, shallStop: { false })
          wasDelivered = FaultInjection.wasDelivered
          FaultInjection.disarm()
          #expect(DeadRuns.cleanUp(place.root, shallStop: { false }) == nil)
          let left = try Shell.script("ls -A", directory: place.path)
          #expect(left == "", "\(errno) at \(nth): \(left)")
        }
        #expect(nth > 10)
      }
    }
  }
}
