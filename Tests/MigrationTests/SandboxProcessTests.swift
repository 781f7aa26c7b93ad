import ArchiveIO
import Foundation
import MigrationWire
import TestSupport
import Testing

@testable import AppMigrationHost

/// Extensions from their start to their end.
@Suite(.timeLimit(.minutes(10)))
struct SandboxProcessTests {
  @Test("An extension starts in a state that does not depend on the system's")
  func facts() throws {
    let scene = try SandboxScene()
    unsafe setenv("SYSTEM_SECRET", "1", 1)
    var blocked = sigset_t()
    unsafe sigemptyset(&blocked)
    unsafe sigaddset(&blocked, SIGUSR1)
    var before = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let process = try ExtensionProcess(scene.launch("facts"))
    let lines = try process.allLines()
    #expect(lines["death signal"] == Int(SIGKILL))
    #expect(lines["blocked SIGUSR1"] == 0 && lines["system's variable"] == 0)
    for name in [
      "no new privileges", "own group", "default SIGPIPE", "in own directory", "home is own", "absolute name",
    ] {
      #expect(lines[name] == 1, "\(name)")
    }
    #expect(process.waitForExit() == .exited(0))
  }

  @Test(
    "How an extension ended is told, many times and to all threads",
    arguments: [
      ("exit", ExtensionProcess.Exit.exited(7)), ("crash", .signalled(SIGSEGV)), ("abort", .signalled(SIGABRT)),
    ])
  func exit(action: String, expected: ExtensionProcess.Exit) async throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch(action))
    let answers = await withTaskGroup(of: ExtensionProcess.Exit.self) { group in
      for _ in 0..<3 { group.addTask { process.waitForExit() } }
      var answers: [ExtensionProcess.Exit] = []
      for await answer in group { answers.append(answer) }
      return answers
    }
    #expect(answers == [expected, expected, expected])
    #expect(process.tryExit(milliseconds: 0) == expected)
    #expect(process.startTime > 0)
    process.kill()
    #expect(process.waitForExit() == expected)
    #expect(process.processorTime() == nil)
  }

  @Test("kill() ends a process that ignores all signals, and what it has started")
  func stubborn() throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch("stubborn"))
    var found: [String: Int] = [:]
    while found["leader"] == nil || found["grandchild"] == nil {
      guard let line = try process.nextLine() else { break }
      found[line.name] = line.value
    }
    let (leader, grandchild) = (try #require(found["leader"]), try #require(found["grandchild"]))
    #expect(leader == Int(process.processID) && isAlive(leader) && isAlive(grandchild))
    if SandboxScene.isEnforced { #expect(found["daemon setsid"] == Int(EPERM)) }
    #expect(process.tryExit(milliseconds: 1) == nil)
    process.kill()
    #expect(!isAlive(leader) && !isAlive(grandchild))
    #expect(process.waitForExit() == .signalled(SIGKILL))
    process.kill()
  }

  @Test("What an extension leaves behind ends with it")
  func leftBehind() throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch("leave"))
    var grandchild = 0
    while grandchild == 0, let line = try process.nextLine() {
      if line.name == "grandchild" { grandchild = line.value }
    }
    #expect(isAlive(grandchild))
    #expect(try process.socket.trySend([1]))
    // One of the two takes the byte; the leader does.
    #expect(process.waitForExit() == .exited(0))
    #expect(!isAlive(grandchild))
  }

  @Test("Letting go of the object ends the extension")
  func release() throws {
    let scene = try SandboxScene()
    var process: ExtensionProcess? = try ExtensionProcess(scene.launch("stubborn"))
    let number = Int(try #require(process?.processID))
    let directory = try #require(ProcessFiles.directory(of: Int32(number)))
    #expect(isAlive(number))
    process = nil
    while let status = ProcessFiles.status(directory), !status.isOver { usleep(100) }
    #expect(!isAlive(number))
  }

  @Test("The other end of the socket is seen to close when the extension ends")
  func socketCloses() throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch("exit"))
    #expect(process.waitForExit() == .exited(7))
    #expect(try process.nextLine() == nil)
  }

  @Test("The temporary directory goes with the extension, whatever is in it")
  func temporaryDirectory() throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch("wait"))
    while let line = try process.nextLine(), line.name != "leader" {}
    let path = try FileSystem.readLink(
      at: FileSystem.currentDirectory, Array("/proc/\(process.processID)/cwd".utf8))
    #expect(try FileSystem.status(at: FileSystem.currentDirectory, path).mode == 0o700)
    #expect(try !Shell.script("ls '\(String(decoding: path, as: UTF8.self))'").isEmpty)
    #expect(try process.socket.trySend([1]))
    #expect(process.waitForExit() == .exited(0))
    #expect(throws: SystemError.self) { try FileSystem.status(at: FileSystem.currentDirectory, path) }
  }

  @Test("Processor time grows while it works, and the start time is that of the kernel")
  func processorTime() throws {
    let scene = try SandboxScene()
    let process = try ExtensionProcess(scene.launch("spin"))
    _ = try process.nextLine()
    let end = ContinuousClock.now + .seconds(60)
    while try #require(process.processorTime()) < .milliseconds(50), ContinuousClock.now < end { usleep(1000) }
    #expect(try #require(process.processorTime()) >= .milliseconds(50))
    let text = try Shell.script("cut -d' ' -f22 /proc/\(process.processID)/stat")
    #expect(UInt64(text.dropLast()) == process.startTime)
    process.kill()
  }

  @Test("What cannot be started is told with the reason, and nothing is run")
  func failures() throws {
    let scene = try SandboxScene()
    var launch = scene.launch("exit")
    launch.executable = Array((scene.container + "/missing").utf8)
    #expect { try ExtensionProcess(launch) } throws: { error in
      (error as? MigrationError)?.code == .launch && "\(error)".contains("No such file")
    }
    launch.executable = Array((scene.container + "/kept").utf8)
    #expect { try ExtensionProcess(launch) } throws: { error in
      (error as? MigrationError)?.code == .launch && "\(error)".contains("Permission denied")
    }
    try Shell.script("chmod +x '\(scene.container)/kept'")
    #expect { try ExtensionProcess(launch) } throws: { error in
      (error as? MigrationError)?.code == .launch && "\(error)".contains("not a program")
    }
    launch = scene.launch("exit")
    launch.containerPath = Array("/missing".utf8)
    #expect { try ExtensionProcess(launch) } throws: { error in (error as? MigrationError)?.code == .sandbox }
  }
}
