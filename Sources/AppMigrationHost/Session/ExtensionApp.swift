internal import ArchiveEngine
internal import ArchiveIO
internal import MigrationWire

/// An extension and the app that it belongs to.
struct ExtensionApp {
  /// What we call the platform that this system runs on, in archives.
  static let platform = "linux"

  let executable: [UInt8]
  let layout: ContainerLayout
  private let groups: [String]

  init(executable: [UInt8], containerPath: [UInt8]?) throws(MigrationError) {
    let entitlements = try Entitlements.load(forExecutable: executable)
    self.executable = executable
    layout = try ContainerLayout(bundleIdentifier: entitlements.bundleIdentifier, containerPath: containerPath)
    groups = entitlements.groups
  }

  /// The container has to be there.
  func requireContainer() throws(MigrationError) {
    let status: FileStatus
    do throws(SystemError) {
      status = try FileSystem.status(at: FileSystem.currentDirectory, layout.containerPath)
    } catch { throw .place("use the container", layout.containerPath, error) }
    guard status.kind == .directory else {
      throw MigrationError(
        .container, "\(PathText.printable(layout.containerPath)) is no directory, and a container has to be one")
    }
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

  var groupPaths: [[UInt8]] { groups.map(layout.groupPath) }

  /// A process that waits for its start.
  func prepare(
    _ access: ExtensionLaunch.Access, lock: MigrationLock?, requiresSandbox: Bool
  ) throws(MigrationError) -> ExtensionProcess {
    try ExtensionProcess(
      ExtensionLaunch(
        executable: executable, access: access, containerPath: layout.containerPath, groupPaths: groupPaths,
        lockDescriptor: lock?.inheritedDescriptor, requiresSandbox: requiresSandbox))
  }
}
