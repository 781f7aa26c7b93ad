internal import ArchiveIO
internal import Foundation

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
    for name in names { try Data().write(to: URL(fileURLWithPath: name)) }
    if !input.isEmpty { try Data(input).write(to: URL(fileURLWithPath: names[0])) }

    var command = arguments
    if let userID {
      command = ["setpriv", "--reuid=\(userID)", "--regid=\(userID)", "--clear-groups"] + command
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.standardInput = try handle(names[0], .readOnly)
    process.standardOutput = try handle(names[1], .writeOnly)
    process.standardError = try handle(names[2], .writeOnly)

    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    if ended.wait(timeout: .now() + timeout) == .timedOut {
      kill(process.processIdentifier, SIGKILL)
      ended.wait()
    }
    return ShellResult(
      status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
      output: [UInt8](try Data(contentsOf: URL(fileURLWithPath: names[1]))),
      errors: [UInt8](try Data(contentsOf: URL(fileURLWithPath: names[2]))))
  }

  /// Foundation's own handles would be inherited by programs that other tests start meanwhile.
  private static func handle(_ path: String, _ flags: OpenFlags) throws -> FileHandle {
    let file = try FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), flags)
    return FileHandle(fileDescriptor: file.release(), closeOnDealloc: true)
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
