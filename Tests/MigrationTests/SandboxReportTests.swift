import ArchiveIO
import Foundation
import MigrationWire
import TestSupport
import Testing

@testable import AppMigrationHost

/// What a kernel cannot enforce is told.
struct SandboxReportTests {
  @Test("Each version of Landlock leaves fewer problems", arguments: zip(0...7, [2, 4, 3, 2, 2, 1, 0, 0]))
  func versions(version: Int, problems: Int) {
    let report = SandboxReport(landlockABI: version, hasSystemCallFilter: true)
    #expect(report.problems.count == problems, "\(report.problems)")
    #expect(report.isComplete == (problems == 0) && report.landlockABI == version && report.metadataProtection)
    let without = SandboxReport(landlockABI: version, hasSystemCallFilter: false)
    #expect(without.problems.count == problems + 1 && !without.metadataProtection && !without.isComplete)
  }

  @Test(
    "A sandbox that is required and not there is an error; nothing is run",
    .disabled(if: Sanitizer.isOn, "the extension cannot reach its sanitizer"))
  func required() throws {
    let scene = try SandboxScene()
    var launch = scene.launch("exit")
    launch.requiresSandbox = true
    if SandboxReport.current().isComplete {
      #expect(try ExtensionProcess(launch).waitForExit() == .exited(7))
    } else {
      #expect { try ExtensionProcess(launch) } throws: { ($0 as? MigrationError)?.code == .sandbox }
    }
  }

  @Test("Rules of every older version can be made", .enabled(if: SandboxScene.isEnforced))
  func olderVersions() throws {
    let scene = try SandboxScene()
    let path = Array(Shell.builtProduct("HostileExtension").utf8)
    let program = SharedDescriptor(try FileSystem.open(at: FileSystem.currentDirectory, path, .path))
    let policy = try SandboxPolicy(scene.launch("exit"), executable: program, privateDirectory: scene.directory.root)
    for version in 1...Int32(SandboxReport.current().landlockABI) {
      _ = try policy.ruleset(abi: version)
    }
  }
}

/// Extensions whose system is gone.
@Suite(.timeLimit(.minutes(10)))
struct SandboxOrphanTests {
  private func open(_ path: String) throws -> SharedDescriptor {
    SharedDescriptor(
      try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), [.readWrite, .create], mode: 0o600))
  }

  @Test("Holders of an exclusive lock are killed; who merely has the file open, or shares the lock, is not")
  func holders() throws {
    let scene = try SandboxScene()
    let path = scene.directory.file("lock")
    #expect(try OrphanHunter.stopHolders(ofLockFile: Array(path.utf8)) == 0)
    try FileTree.write([], to: path)

    let opened = try open(path)
    let opener = try ExtensionProcess(scene.launch("stubborn", lock: opened.rawValue))
    #expect(try OrphanHunter.stopHolders(ofLockFile: Array(path.utf8)) == 0)
    #expect(opener.tryExit(milliseconds: 0) == nil)

    var lock: SharedDescriptor? = try open(path)
    #expect(flock(try #require(lock).rawValue, LOCK_EX | LOCK_NB) == 0)
    let holder = try ExtensionProcess(scene.launch("stubborn", lock: lock?.rawValue))
    var found: Set<String> = []
    while !found.isSuperset(of: ["leader", "grandchild"]), let line = try holder.nextLine() { found.insert(line.name) }
    withExtendedLifetime(lock) {}
    lock = nil
    let other = try open(path)
    #expect(flock(other.rawValue, LOCK_SH | LOCK_NB) != 0)
    // The leader and its grandchild; when the leader dies first, its own system's thread may be quicker.
    #expect(try OrphanHunter.stopHolders(ofLockFile: Array(path.utf8)) >= 1)
    #expect(holder.waitForExit() == .signalled(SIGKILL))
    #expect(flock(other.rawValue, LOCK_SH | LOCK_NB) == 0)
    #expect(opener.tryExit(milliseconds: 0) == nil)
    withExtendedLifetime(opened) {}
    opener.kill()
  }

  @Test("Of another kind of lock the facts of a descriptor say so")
  func facts() {
    func isExclusive(_ text: String) -> Bool { OrphanHunter.isExclusive(Array(text.utf8)) }
    #expect(isExclusive("pos:\t0\nflags:\t02\nlock:\t1: FLOCK  ADVISORY  WRITE 4711 fe:00:815 0 EOF\n"))
    #expect(!isExclusive("pos:\t0\nlock:\t1: FLOCK  ADVISORY  READ 4711 fe:00:815 0 EOF\n"))
    #expect(!isExclusive("pos:\t0\nlock:\t1: POSIX  ADVISORY  WRITE 4711 fe:00:815 0 EOF\n"))
    #expect(!isExclusive("pos:\t0\nflags:\t02\n"))
    #expect(!isExclusive(""))
  }

  @Test("The state of a process is read whatever its name is")
  func names() throws {
    let rest = (4...21).map { $0 == 5 ? "77" : "\($0)" }.joined(separator: " ")
    let status = ProcessFiles.Status(Array("12 (a) R 1 (b)) S \(rest) 99 0\n".utf8))
    let found = try #require(status)
    #expect(found.state == UInt8(ascii: "S") && found.group == 77 && found.ticks == 29 && found.startTime == 99)
    for text in ["", ")", "1 (x) S 1", "1 (x) S a b c d e f g h i j k l m n o p q r s t"] {
      #expect(ProcessFiles.Status(Array(text.utf8)) == nil)
    }
  }
}
