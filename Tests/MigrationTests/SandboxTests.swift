import ArchiveIO
import Foundation
import MigrationWire
import TestSupport
import Testing

@testable import AppMigrationHost

/// The hostile extension attacks; nothing may come of it.
@Suite(.enabled(if: SandboxScene.isEnforced, "the kernel cannot enforce the sandbox"), .timeLimit(.minutes(10)))
struct SandboxTests {
  /// Attempts that fail without a sandbox too, for want of privileges or because the kernel lacks what they use.
  private static let alwaysRefused: Set<String> = [
    "fchmodat2", "setxattrat", "type into terminal", "trace parent", "set flags", "memory of parent",
    "read parent's memory",
  ]

  /// Looks at all answers: those that begin with "allowed" must be successes, all others failures.
  private func expectHeld(_ lines: [String: Int], atLeast count: Int) {
    #expect(lines.count >= count)
    for (name, value) in lines.sorted(by: { $0.key < $1.key }) {
      let isAllowed = name.contains("allowed") || name == "further descriptors"
      #expect(isAllowed ? value == 0 : value > 0, "\(name): errno \(value)")
    }
  }

  @Test("An export changes nothing in the container and reaches nothing outside")
  func export() throws {
    let scene = try SandboxScene()
    let before = try scene.listing()
    let process = try ExtensionProcess(scene.launch("attack"))
    expectHeld(try process.allLines(), atLeast: 84)
    #expect(process.waitForExit() == .exited(0))
    #expect(try scene.listing() == before)
    #expect(process.sandbox.isComplete)
  }

  @Test("Code that runs before main is in the sandbox too")
  func beforeMain() throws {
    let scene = try SandboxScene()
    let before = try scene.listing()
    let process = try ExtensionProcess(scene.launch("constructor"))
    let lines = try process.allLines()
    expectHeld(lines, atLeast: 60)
    #expect(lines.keys.allSatisfy { $0.hasPrefix("early ") })
    #expect(process.waitForExit() == .exited(0))
    #expect(try scene.listing() == before)
  }

  @Test("Without a sandbox the same attempts succeed, so that they are real ones")
  func attemptsAreReal() throws {
    let scene = try SandboxScene()
    let environment = Dictionary(uniqueKeysWithValues: scene.environment("harmless attack"))
      .merging(["TMPDIR": scene.outside], uniquingKeysWith: { $1 })
    let result = try Shell.run([Shell.builtProduct("HostileExtension")], environment: environment)
    #expect(result.status == 0)
    let lines = result.outputText.split(separator: "\n").map { $0.split(separator: "=") }
    #expect(lines.count >= 65)
    for line in lines where line[1] != "0" && line[0] != "further descriptors" {
      #expect(Self.alwaysRefused.contains(String(line[0])), "\(line[0]): errno \(line[1])")
    }
  }

  @Test("An import writes its own places, moves from the staging directory, and does nothing else")
  func `import`() throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch("import", imports: true))
    expectHeld(try process.allLines(), atLeast: 16)
    #expect(process.waitForExit() == .exited(0))
    #expect(try FileTree.read(scene.container + "/directory/inner") == Array("new".utf8))
    #expect(try FileTree.read(scene.outside + "/secret") == Array("secret".utf8))
  }

  @Test("The inherited lock cannot be given back, and not be closed")
  func lock() throws {
    let scene = try SandboxScene()
    let path = scene.directory.file("lock")
    try FileTree.write([], to: path)
    let lock = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .readWrite)
    #expect(flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0)
    let process = try ExtensionProcess(scene.launch("attack", lock: lock.rawValue))
    let lines = try process.allLines()
    expectHeld(lines, atLeast: 98)
    #expect(lines["unlock"] == Int(EPERM) && lines["share lock"] == Int(EPERM) && lines["unlock copy"] == Int(EPERM))
    #expect(lines["allowed keep lock"] == 0)
    #expect(process.waitForExit() == .exited(0))
    let other = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .readWrite)
    #expect(flock(other.rawValue, LOCK_SH | LOCK_NB) != 0)
  }

  @Test("A program in Swift with Foundation finds what it needs", arguments: [false, true])
  func foundation(imports: Bool) throws {
    let scene = try SandboxScene()
    var launch = scene.launch("", imports: imports, program: "FoundationExtension")
    launch.environment += [("CONTAINER", scene.container), ("STAGING", scene.staging)]
    if imports { launch.environment.append(("IMPORT", "1")) }
    if imports || SandboxScene.isSupervised { launch.environment.append(("CHANGES", "1")) }
    let exit = try ExtensionProcess(launch).waitForExit()
    #expect(exit == .exited(0), "\(exit)")
  }
}
