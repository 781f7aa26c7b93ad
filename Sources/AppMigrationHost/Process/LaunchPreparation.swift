internal import ArchiveIO
internal import CMigrationShims
internal import Glibc
internal import MigrationWire

/// Everything that an extension needs, made before the fork.
final class LaunchPreparation: Sendable {
  /// What the extension inherits.
  private struct Inherited {
    var socket: SharedDescriptor
    var ruleset: SharedDescriptor?
  }

  /// The system's end of the socket.
  let socket: MessageSocket
  /// The extension's temporary directory.
  let privateDirectory: PrivateDirectory
  private let inherited: Locked<Inherited?>
  private let executable: [UInt8]
  private let environment: [[UInt8]]
  private let gate: LaunchGate
  private let lock: Int32
  private let landlockABI: Int32
  private let filtersSystemCalls: Bool
  private let deniesMetadata: Bool

  /// Makes the temporary directory, the socket and the rules.
  init(_ launch: ExtensionLaunch, _ sandbox: SandboxReport) throws(MigrationError) {
    let program: SharedDescriptor
    do throws(SystemError) {
      program = SharedDescriptor(
        try FileSystem.open(at: FileSystem.currentDirectory, launch.executable, .path))
      executable = try RealPath.of(program.rawValue)
    } catch {
      let name = String(decoding: launch.executable, as: UTF8.self)
      throw MigrationError(.launch, "the extension \(name) cannot be opened: \(error.message)")
    }
    do throws(SystemError) { privateDirectory = try PrivateDirectory() } catch {
      throw MigrationError(
        .launch,
        "no temporary directory can be made for the extension: \(error.message); set TMPDIR to a place with room")
    }
    gate = LaunchGate(launch.willExecute)
    landlockABI = Int32(sandbox.landlockABI)
    filtersSystemCalls = sandbox.metadataProtection
    deniesMetadata = launch.access == .export
    lock = launch.lockDescriptor ?? -1
    environment = Self.environment(launch, home: privateDirectory.path)
    do {
      let ends = try MessageSocket.pair()
      socket = ends.0
      let policy = try SandboxPolicy(
        launch, executable: program, privateDirectory: privateDirectory.descriptor)
      let ruleset = landlockABI > 0 ? try policy.ruleset(abi: landlockABI) : nil
      inherited = Locked(Inherited(socket: ends.1.descriptor, ruleset: ruleset))
    } catch {
      privateDirectory.remove()
      if let error = error as? MigrationError { throw error }
      let reason = (error as? SystemError)?.message ?? "\(error)"
      throw MigrationError(.sandbox, "the extension's sandbox cannot be prepared: \(reason)")
    }
  }

  /// Starts the process from the calling thread; see `amk_launch`. The listener stays -1 where nobody is to serve the process.
  func launch(_ failedStep: inout Int32, _ listener: inout Int32) -> Int64 {
    guard let inherited = inherited.withLock({ $0 }) else { return -Int64(EBADF) }
    var denied = lock >= 0 ? Int32(AMK_DENY_LOCK_RELEASE) : 0
    if deniesMetadata { denied |= Int32(AMK_DENY_METADATA) }
    // Only Landlock keeps hard links to the container's files out of the temporary directory.
    if deniesMetadata, inherited.ruleset != nil, amk_supervision_is_available() != 0 {
      denied |= Int32(AMK_SUPERVISE_METADATA)
    }
    return unsafe CStrings.with([executable]) { arguments in
      unsafe CStrings.with(environment) { environment in
        var plan = unsafe amk_launch_plan(
          executable: arguments[0]!, arguments: arguments, environment: environment,
          directory: privateDirectory.descriptor.rawValue, socket: inherited.socket.rawValue, lock: lock,
          ruleset: inherited.ruleset?.rawValue ?? -1, landlock_abi: landlockABI,
          uses_seccomp: filtersSystemCalls ? 1 : 0, denied: denied, forked: LaunchGate.pass,
          context: Unmanaged.passUnretained(gate).toOpaque())
        return withExtendedLifetime(gate) { unsafe amk_launch(&plan, &failedStep, &listener) }
      }
    }
  }

  /// Closes what only the extension is to have.
  func closeInherited() { inherited.withLock { $0 = nil } }

  /// What to tell when a step failed.
  func failure(step: Int32, errno: Int32) -> MigrationError {
    if let refusal = gate.refusal { return refusal }
    let name = unsafe String(cString: amk_step_name(step))
    let reason = SystemError("", errno: errno).reason
    let program = String(decoding: executable, as: UTF8.self)
    var message = "the extension \(program) cannot be started: \(name) failed: \(reason)"
    switch step {
    case Int32(AMK_STEP_EXECUTE):
      switch errno {
      case ENOEXEC: message += "; it is not a program of this machine"
      case EACCES: message += "; check that it and the directories above it may be executed by this user"
      case ENOENT: message += "; its interpreter, or the file itself, is missing"
      default: break
      }
      return MigrationError(.launch, message)
    case Int32(AMK_STEP_PRIVILEGES), Int32(AMK_STEP_LANDLOCK), Int32(AMK_STEP_SECCOMP),
      Int32(AMK_STEP_CAPABILITIES):
      return MigrationError(.sandbox, message + "; nothing was run")
    default: return MigrationError(.launch, message)
    }
  }

  /// The extension's variables. Nothing else of the system's own reaches it.
  private static func environment(_ launch: ExtensionLaunch, home: [UInt8]) -> [[UInt8]] {
    var values: [(name: String, value: [UInt8])] = [
      ("PATH", Array("/usr/local/bin:/usr/bin:/bin".utf8)), ("HOME", home), ("TMPDIR", home),
      ("APP_MIGRATION_SOCKET", Array("3".utf8)),
      // The tracer of crashes would need ptrace, and hold up the end.
      ("SWIFT_BACKTRACE", Array("enable=no".utf8)),
    ]
    for name in ["LANG", "TZ"] {
      if let value = ProcessFacts.environment(name) { values.append((name, value)) }
    }
    for (name, value) in launch.environment {
      values.removeAll { $0.name == name }
      values.append((name, Array(value.utf8)))
    }
    return values.map { Array($0.name.utf8) + [UInt8(ascii: "=")] + $0.value }
  }
}
