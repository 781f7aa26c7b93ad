internal import AppMigrationHost
internal import ArchiveIO
internal import Dispatch
internal import MigrationWire

/// The places of one tester: a container, app groups, archives and what was unpacked of them. Removed with the last who needs them.
final class TesterWorkspace: Sendable {
  let root: URL
  let container: MigrationDataContainer
  let target: TesterTarget
  let platform: MigrationPlatform
  let faults = Locked<AppMigrationTester.SimulatedFault?>(nil)

  init(_ target: TesterTarget, platform: MigrationPlatform) throws {
    self.target = target
    self.platform = platform
    let name = "migration-test-\(UUID().uuidString)"
    root = FileManager.default.temporaryDirectory.appendingPathComponent(name, isDirectory: true)
    let bundleIdentifier: String
    switch target {
    case .type(_, let identifier, _): bundleIdentifier = identifier
    case .executable(let path):
      let check = MigrationCheck(executable: path)
      guard let identifier = check.bundleIdentifier else {
        throw AppMigrationTesterError(.noExtension, check.problems.joined(separator: "; "))
      }
      bundleIdentifier = identifier
    }
    container = MigrationDataContainer(
      bundleIdentifier: bundleIdentifier,
      containerRootDirectory: root.appendingPathComponent("container", isDirectory: true))
    for directory in [container.documentsDirectory, container.applicationSupportDirectory] {
      try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  /// A place for a new file or directory.
  func freshURL(_ name: String) -> URL { root.appendingPathComponent("\(name)-\(UUID().uuidString)") }

  /// The extension as the system takes it, and a look at the error that it throws.
  func place() -> (place: ExtensionPlace, thrown: @Sendable () -> (any Error)?) {
    var place = ExtensionPlace()
    place.containerPath = Array(container.containerRootDirectory.path.utf8)
    place.groupsRoot = root.appendingPathComponent("groups").path
    switch target {
    case .executable(let path):
      place.executable = path
      return (place, { nil })
    case .type(let type, let bundleIdentifier, let groups):
      let running = Locked<InProcessExtension?>(nil)
      place.embedded = EmbeddedExtension(bundleIdentifier: bundleIdentifier, groups: groups) {
        () throws(MigrationError) in
        let endpoint = try InProcessExtension(type)
        running.withLock { $0 = endpoint }
        return endpoint
      }
      return (place, { running.withLock { $0?.error } })
    }
  }

  /// Runs a call of the system on a thread of its own; it is cancelled with the task. What the extension has thrown comes out as it was thrown, if
  /// it ran in this process.
  func run<Result: Sendable>(
    thrown: @escaping @Sendable () -> (any Error)?,
    _ body: @escaping @Sendable (CancellationToken) throws(MigrationError) -> Result
  ) async throws -> Result {
    let token = CancellationToken()
    let outcome: Swift.Result<Result, MigrationError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "migration-test").async {
          do throws(MigrationError) { continuation.resume(returning: .success(try body(token))) } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
    } onCancel: {
      token.cancel()
    }
    switch outcome {
    case .success(let result): return result
    case .failure(let error):
      if Task.isCancelled { throw CancellationError() }
      if error.code == .extensionFailed, let own = thrown() { throw own }
      if let record = error.extensionError { throw record.nsError }
      throw AppMigrationTesterError(error)
    }
  }
}
