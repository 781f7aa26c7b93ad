internal import ArchiveIO
internal import Foundation
internal import Glibc

/// What a program that ran has left.
public struct ShellResult: Sendable {
  /// The exit status; of a program that a signal ended, 128 and the signal's number.
  public var status: Int32
  /// What it wrote.
  public var output: [UInt8]
  /// What it wrote as errors.
  public var errors: [UInt8]

  /// The output as text.
  public var outputText: String { String(decoding: output, as: UTF8.self) }
  /// The errors as text.
  public var errorText: String { String(decoding: errors, as: UTF8.self) }
}

/// Runs programs.
public enum Shell {
  /// A user without privileges, for tests that drop them ("nobody").
  public static let plainUser: UInt32 = 65534

  /// Runs a program, found by `PATH`, to its end.
  ///
  /// `environment` is added to that of the test. With `userID` it runs as that user, without groups and capabilities
  /// (needs root). It is killed after `timeout` seconds: its status is then 137.
  public static func run(
    _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:], directory: String? = nil,
    userID: UInt32? = nil, timeout: Double = 120
  ) throws -> ShellResult {
    let scratch = try TemporaryDirectory()
    let names = ["in", "out", "err"].map { scratch.file($0) }
    try FileTree.write(input, to: names[0])
    for name in names.dropFirst() { try FileTree.write([], to: name) }

    var command = ["/usr/bin/env"]
    if let directory { command += ["-C", directory] }
    command += environment.map { "\($0)=\($1)" }
    if let userID { command += ["setpriv", "--reuid=\(userID)", "--regid=\(userID)", "--clear-groups"] }
    let status = try spawn(command + arguments, streams: names, timeout: timeout)
    return ShellResult(status: status, output: try FileTree.read(names[1]), errors: try FileTree.read(names[2]))
  }

  /// Starts a program with three files as its standard streams, and waits for it.
  private static func spawn(_ command: [String], streams: [String], timeout: Double) throws -> Int32 {
    // Not Foundation's Process: it leaks, which the leak checker reports, and its handles are inherited by programs
    // that other tests start at the same time.
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let here = FileSystem.currentDirectory
    let files = try streams.enumerated().map { index, path in
      SharedDescriptor(try FileSystem.open(at: here, Array(path.utf8), index == 0 ? .readOnly : .writeOnly))
    }
    for (index, file) in files.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, file.rawValue, Int32(index))
    }
    let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
    var cCommand = unsafe command.map { unsafe strdup($0) } + [nil]
    var cEnvironment = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      for index in unsafe cCommand.indices { unsafe free(cCommand[index]) }
      for index in unsafe cEnvironment.indices { unsafe free(cEnvironment[index]) }
    }
    var process: pid_t = 0
    let error = unsafe posix_spawn(&process, "/usr/bin/env", &actions, nil, &cCommand, &cEnvironment)
    if error != 0 { throw SystemError("posix_spawn", errno: error, path: Array(command[0].utf8)) }
    return wait(for: process, timeout: timeout)
  }

  private static func wait(for process: pid_t, timeout: Double) -> Int32 {
    var status: Int32 = 0
    let clock = ContinuousClock()
    let end = clock.now + .seconds(timeout)
    var pause: UInt32 = 200
    while unsafe waitpid(process, &status, WNOHANG) == 0 {
      if clock.now > end {
        kill(process, SIGKILL)
        _ = unsafe waitpid(process, &status, 0)
        break
      }
      usleep(pause)
      pause = min(pause * 2, 5000)
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Runs a shell script with `sh -eu`, and throws if it fails.
  @discardableResult
  public static func script(_ text: String, directory: String? = nil, userID: UInt32? = nil) throws -> String {
    let result = try run(["sh", "-euc", text], directory: directory, userID: userID)
    if result.status != 0 { throw ShellFailure(script: text, result: result) }
    return result.outputText
  }

  /// The path of a program of this package, beside the test's own.
  public static func builtProduct(_ name: String) -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(name).path
  }
}

/// A script that was to succeed has failed.
public struct ShellFailure: Error, CustomStringConvertible {
  let script: String
  let result: ShellResult

  /// All of it, for messages.
  public var description: String { "exit \(result.status) of: \(script)\n\(result.errorText)" }
}
