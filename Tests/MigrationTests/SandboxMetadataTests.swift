import ArchiveIO
import CMigrationShims
import Foundation
import MigrationWire
import TestSupport
import Testing

@testable import AppMigrationHost

/// Changes of metadata in an export: below its private directory they are made, elsewhere never.
@Suite(
  .enabled(if: SandboxScene.isEnforced && SandboxScene.isSupervised, "the kernel cannot hand calls over"),
  .timeLimit(.minutes(10)), .serialized)
struct SandboxMetadataTests {
  /// What would show a change of a file outside: the mode, the owner, and the times, that of the last change among them.
  private func facts(_ path: String) throws -> String { try Shell.script("stat -c '%a %u %g %y %z' '\(path)'") }

  @Test("By descriptor and by path, an extension changes what is its own and nothing else")
  func ways() throws {
    let scene = try SandboxScene()
    let before = try scene.listing()
    let program = scene.directory.file("extension")
    try Shell.script("cp '\(Shell.builtProduct("HostileExtension"))' '\(program)'", directory: "/")
    let factsBefore = try facts(program)
    var launch = scene.launch("metadata")
    launch.executable = Array(program.utf8)
    let process = try ExtensionProcess(launch)
    let lines = try process.allLines()
    #expect(lines.count == 97)
    for (name, value) in lines.sorted(by: { $0.key < $1.key }) {
      #expect(name.contains("allowed") ? value == 0 : value > 0, "\(name): errno \(value)")
    }
    #expect(process.waitForExit() == .exited(0))
    #expect(try scene.listing() == before)
    #expect(try facts(program) == factsBefore)
  }

  @Test("Descriptors, memory and directories that are swapped meanwhile mislead nobody")
  func races() throws {
    let scene = try SandboxScene()
    let before = try scene.listing()
    let process = try ExtensionProcess(scene.launch("race"))
    let lines = try process.allLines()
    #expect(lines.count == 8)
    // Both outcomes, or nothing was swapped.
    for (name, value) in lines { #expect(value > 0, "\(name)") }
    #expect(process.waitForExit() == .exited(0))
    #expect(try scene.listing() == before)
  }

  @Test("A flood of calls changes nothing, holds up nobody, and ends with the extension")
  func flood() throws {
    let scene = try SandboxScene()
    let before = try scene.listing()
    let process = try ExtensionProcess(scene.launch("flood"))
    // Each of the five processes gets its own calls through.
    for _ in 0..<5 { #expect(try process.nextLine()?.name == "leader") }
    let start = ContinuousClock.now
    process.kill()
    #expect(ContinuousClock.now - start < .seconds(9))
    #expect(process.waitForExit() == .signalled(SIGKILL))
    #expect(try scene.listing() == before)
  }

  @Test("Where nobody serves them any more, as when the system was killed, calls fail and do not wait")
  func unserved() throws {
    let scene = try SandboxScene()
    let before = try scene.listing()
    let preparation = try LaunchPreparation(scene.launch("metadata"), SandboxReport.current())
    defer { preparation.privateDirectory.remove() }
    var step: Int32 = 0
    var listener: Int32 = -1
    let process = Int32(preparation.launch(&step, &listener))
    preparation.closeInherited()
    #expect(process > 0 && listener >= 0)
    close(listener)
    let lines = try preparation.socket.allLines()
    #expect(lines["allowed own fchmod"] == Int(ENOSYS) && lines["allowed chmod own"] == Int(ENOSYS))
    #expect(lines["container fchmod"] == Int(ENOSYS))
    #expect(amk_process_wait(process) == 0 && amk_process_reap(process) == 0)
    #expect(try scene.listing() == before)
  }

  @Test("When it ends, the supervisor closes its listener, so that no call waits for an answer")
  func closes() throws {
    var ends: [Int32] = [-1, -1]
    #expect(unsafe pipe(&ends) == 0)
    let reader = Descriptor(adopting: ends[0])
    let directory = try TemporaryDirectory()
    // A directory is always ready, as the handle of a process that has ended is.
    MetadataSupervisor(listener: Descriptor(adopting: ends[1]), process: directory.root, directory: directory.root)
      .wait()
    var byte: UInt8 = 0
    #expect(unsafe read(reader.rawValue, &byte, 1) == 0)
  }
}
