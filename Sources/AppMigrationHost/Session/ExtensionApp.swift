internal import ArchiveEngine
internal import ArchiveIO
internal import Foundation
internal import MigrationWire

/// An extension and the app that it belongs to.
struct ExtensionApp {
  /// What we call the platform that this system runs on, in archives.
  static let platform = "linux"

  let layout: ContainerLayout
  private let place: ExtensionPlace
  private let groups: [String]

  init(_ place: ExtensionPlace) throws(MigrationError) {
    self.place = place
    let bundleIdentifier: String
    if let embedded = place.embedded {
      (bundleIdentifier, groups) = (embedded.bundleIdentifier, embedded.groups)
    } else {
      let entitlements = try Entitlements.load(forExecutable: place.executable)
      (bundleIdentifier, groups) = (entitlements.bundleIdentifier, entitlements.groups)
    }
    var environment = ProcessInfo.processInfo.environment
    if let root = place.groupsRoot { environment["APP_GROUPS_ROOT"] = root }
    layout = try ContainerLayout(
      bundleIdentifier: bundleIdentifier, containerPath: place.containerPath, environment: environment)
  }

  /// The container has to be there. App groups that the app has not used yet are made.
  func requireContainer() throws(MigrationError) {
    let status: FileStatus
    do throws(SystemError) {
      status = try FileSystem.status(at: FileSystem.currentDirectory, layout.containerPath)
    } catch { throw .place("use the container", layout.containerPath, error) }
    guard status.kind == .directory else {
      throw MigrationError(
        .container, "\(PathText.printable(layout.containerPath)) is no directory, and a container has to be one")
    }
    try layout.prepareGroups(groups)
  }

  /// Who owns the container.
  func containerOwner() throws(MigrationError) -> (user: UInt32, group: UInt32) {
    do throws(SystemError) {
      let status = try FileSystem.status(at: FileSystem.currentDirectory, layout.containerPath)
      return (status.userID, status.groupID)
    } catch { throw .place("use the container", layout.containerPath, error) }
  }

  /// The task of the extension.
  func task(_ action: MigrationTask.Action) -> MigrationTask {
    MigrationTask(
      action: action, bundleIdentifier: layout.bundleIdentifier, containerPath: layout.containerPath,
      groups: groups.map { MigrationTask.Group(identifier: $0, path: layout.groupPath($0)) })
  }

  /// Makes container and groups, as far as they are missing.
  func prepareContainer() throws(MigrationError) { try layout.prepare(groups: groups) }

  /// Ends extensions that have outlived their system.
  static let stopOrphans: OrphanStopper = { path throws(MigrationError) in
    _ = try OrphanHunter.stopHolders(ofLockFile: path)
  }

  // MARK: Staging

  /// Removes what an older run has left in the place of the staging directory.
  func removeStaging() throws(MigrationError) {
    try StateDirectory.make(layout).remove(StateName.staging)
  }

  /// The staging directory, open for reading.
  func openStaging() throws(MigrationError) -> SharedDescriptor {
    do throws(SystemError) {
      return SharedDescriptor(
        try FileSystem.open(
          at: FileSystem.currentDirectory, layout.stagingPath, [.readOnly, .directory, .noFollow]))
    } catch { throw .place("open", layout.stagingPath, error) }
  }

  /// Free bytes where container and staging directory lie.
  var freeByteCount: UInt64? {
    guard
      let directory = try? FileSystem.open(
        at: FileSystem.currentDirectory, layout.containerPath, [.readOnly, .directory])
    else { return nil }
    return try? ProcessFacts.freeSpace(of: directory.rawValue).bytes
  }

  /// Brings the app groups to the disk; they may lie on another file system than the container.
  func syncGroups() throws(MigrationError) {
    for path in groupPaths {
      do throws(SystemError) {
        let directory = try FileSystem.open(at: FileSystem.currentDirectory, path, [.readOnly, .directory, .noFollow])
        try FileSystem.syncFileSystem(directory.rawValue)
      } catch {
        if !error.isNotFound { throw .place("bring to the disk", path, error) }
      }
    }
  }

  var groupPaths: [[UInt8]] { groups.map(layout.groupPath) }

  /// Starts the extension.
  ///
  /// - Parameter willExecute: called before anything of it runs, with what names its process for good.
  func start(
    _ access: ExtensionLaunch.Access, lock: MigrationLock?, requiresSandbox: Bool,
    willExecute: @escaping @Sendable (Int32, UInt64) throws(MigrationError) -> Void = { _, _ in }
  ) throws(MigrationError) -> any ExtensionEndpoint {
    if let embedded = place.embedded {
      try willExecute(ProcessFacts.processID, 0)
      return try embedded.start()
    }
    var launch = ExtensionLaunch(
      executable: place.executable, access: access, containerPath: layout.containerPath, groupPaths: groupPaths,
      lockDescriptor: lock?.inheritedDescriptor, requiresSandbox: requiresSandbox)
    launch.willExecute = willExecute
    return try ExtensionProcess(launch)
  }
}
