import AppMigrationHost
import ArchiveIO
import Foundation
import MigrationWire
import TestSupport
import Testing

/// Looks at the system calls themselves: what is on the disk before what.
@Suite(.timeLimit(.minutes(10)))
struct RecoveryTraceTests {
  static let canTrace =
    ((try? Shell.run(["strace", "-qq", "-o", "/dev/null", "true"]).status) == 0)
    && (ProcessFacts.effectiveUserID == 0
      || (try? FileTree.read("/proc/sys/kernel/yama/ptrace_scope").first) == 0x30)

  static let journal = ["fsync journal.new", "rename journal.new journal", "fsync state"]
  static let status = ["fsync status.new", "rename status.new status", "fsync state"]
  static let moveAside = ["rename c previous", "fsync state", "fsync parent", "mkdir c", "fsync c", "fsync parent"]
  static let staging = ["fsync state", "mkdir staging"]
  static let cleanUp = ["rmdir staging", "fsync state", "unlink journal", "fsync state"]

  static let start = ["mkdir .c.migration", "fsync parent"] + journal + staging + ["syncfs staging"] + journal
  static let moves = ["rename file file", "rename deep deep"]

  @Test(.enabled(if: canTrace, "needs strace, and to be allowed to attach it")) func replacementThatSucceeds() async {
    await #expect(processExitsWith: .success) {
      let expected =
        Self.start + Self.moveAside + Self.journal + Self.moves + ["syncfs c"] + Self.status + [
          "rmdir previous", "fsync state",
        ]
      try Self.compare(RecoveryScenario(isReplacing: true), expected + Self.cleanUp)
    }
  }

  @Test(.enabled(if: canTrace, "needs strace, and to be allowed to attach it")) func replacementThatFails() async {
    await #expect(processExitsWith: .success) {
      let restoration = ["rmdir deep", "fsync c", "rename previous c", "fsync parent", "fsync state"]
      let expected =
        Self.start + Self.moveAside + Self.journal + Self.moves + restoration + Self.status + ["fsync state"]
      try Self.compare(RecoveryScenario(isReplacing: true, fails: true), expected + Self.cleanUp)
    }
  }

  @Test(.enabled(if: canTrace, "needs strace, and to be allowed to attach it")) func importThatFails() async {
    await #expect(processExitsWith: .success) {
      let emptying = ["rmdir Documents", "rmdir Application Support", "rmdir Library", "rmdir deep", "fsync c"]
      let expected = Self.start + Self.moves + emptying + Self.status + ["fsync state"]
      try Self.compare(RecoveryScenario(fails: true), expected + Self.cleanUp)
    }
  }

  private static func compare(_ scenario: RecoveryScenario, _ expected: [String]) throws {
    let found = try trace(scenario)
    #expect(found == expected, "\(found)")
  }

  /// Runs a scenario in this process while `strace` is attached to it.
  private static func trace(_ scenario: RecoveryScenario) throws -> [String] {
    let place = try scenario.makePlace()
    let scratch = try TemporaryDirectory(.memory)
    let output = scratch.file("trace")
    let own = String(ProcessFacts.processID)
    let tracer = Thread {
      _ = try? Shell.run([
        "strace", "-f", "-qq", "-y", "-s", "256", "-o", output, "-p", own, "-e",
        "trace=fsync,syncfs,rename,renameat,renameat2,mkdirat,unlinkat",
      ])
    }
    tracer.start()
    // It attaches to this very thread too; from then on every call is seen.
    let thread = "/proc/thread-self/status"
    var number: Int32 = 0
    let deadline = ContinuousClock.now + .seconds(20)
    while number == 0, ContinuousClock.now < deadline {
      usleep(1000)
      let line = try String(decoding: FileContentsOfProc.read(thread), as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("TracerPid:") }
      number = Int32(line?.split(separator: "\t").last ?? "0") ?? 0
    }
    try #require(number > 0)
    var progress = RecoveryScenario.Progress()
    try scenario.run(place, &progress)
    // Not SIGTERM: it may have inherited a mask that blocks that. Each line is written at once.
    kill(number, SIGKILL)
    while !tracer.isFinished { usleep(1000) }
    let lines = String(decoding: try FileTree.read(output), as: UTF8.self).split(separator: "\n")
    return lines.compactMap { event(String($0), place.directory.path) }
  }

  /// A call in short, with the last components of the names. Removed files other than the journal and failed calls are left out.
  private static func event(_ line: String, _ root: String) -> String? {
    guard line.hasSuffix("= 0"), line.contains(root) else { return nil }
    let call = line.split(separator: "(")[0].split(separator: " ").last.map(String.init) ?? ""
    let names = line.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
    switch call {
    case "fsync", "syncfs":
      let path = line.split(separator: "<")[1].split(separator: ">")[0]
      if path == root { return "\(call) parent" }
      let name = String(path.split(separator: "/").last ?? "")
      return "\(call) \(name == ".c.migration" ? "state" : name)"
    case "rename", "renameat", "renameat2": return "rename \(names[0]) \(names[1])"
    case "mkdirat": return names[0] == "deep" ? nil : "mkdir \(names[0])"
    case "unlinkat":
      if line.contains("AT_REMOVEDIR") {
        // Of trees the roots.
        let isInner = line.contains("/previous>") || line.contains("/staging>") || line.contains("/previous/")
        return isInner ? nil : "rmdir \(names[0].split(separator: "/").last ?? "")"
      }
      return names[0] == "journal" ? "unlink journal" : nil
    default: return nil
    }
  }
}

/// Files of `/proc` have no size.
private enum FileContentsOfProc {
  static func read(_ path: String) throws -> [UInt8] {
    let file = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .readOnly)
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe FileSystem.readFully(file.rawValue, into: $0) }
    return Array(bytes.prefix(count))
  }
}
