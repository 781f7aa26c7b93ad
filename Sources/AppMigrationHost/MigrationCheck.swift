internal import ArchiveEngine
internal import ArchiveIO

/// What would stop a migration, found without starting anything.
public struct MigrationCheck: Sendable {
  /// The app that the extension belongs to.
  public private(set) var bundleIdentifier: String?
  /// App groups that it is entitled to.
  public private(set) var groups: [String] = []
  /// The app's container.
  public private(set) var containerPath: [UInt8]?
  /// Whether it is there. An export needs it, an import makes it.
  public private(set) var hasContainer = false
  /// What the kernel can enforce.
  public let sandbox: SandboxReport
  /// Each of them would stop a migration.
  public private(set) var problems: [String] = []

  /// Whether a migration can begin. What the sandbox cannot enforce stops it only where that is required.
  public var isOK: Bool { problems.isEmpty }

  /// Looks at everything that can be looked at.
  public init(executable: [UInt8], containerPath: [UInt8]? = nil) {
    sandbox = SandboxReport.current()
    do throws(SystemError) {
      let status = try FileSystem.statusFollowing(at: FileSystem.currentDirectory, executable)
      if status.kind != .regular || status.mode & 0o111 == 0 {
        problems.append("\(PathText.printable(executable)) is no file that can be executed")
      }
    } catch { problems.append("\(PathText.printable(executable)): \(error.message)") }
    do throws(MigrationError) {
      let entitlements = try Entitlements.load(forExecutable: executable)
      bundleIdentifier = entitlements.bundleIdentifier
      groups = entitlements.groups
      let layout = try ContainerLayout(
        bundleIdentifier: entitlements.bundleIdentifier, containerPath: containerPath)
      self.containerPath = layout.containerPath
      hasContainer = try layout.checkContainer()
    } catch { problems.append(error.message) }
  }
}

extension ContainerLayout {
  /// Whether the container can be used.
  ///
  /// - Returns: false when it is missing: an import makes it, an export has nothing to export.
  func checkContainer() throws(MigrationError) -> Bool {
    let end = containerPath.lastIndex(of: 0x2F) ?? 0
    let parent = end == 0 ? [0x2F] : Array(containerPath[..<end])
    let (container, outer): (FileStatus, FileStatus)
    do throws(SystemError) {
      container = try FileSystem.status(at: FileSystem.currentDirectory, containerPath)
      outer = try FileSystem.statusFollowing(at: FileSystem.currentDirectory, parent)
    } catch {
      if error.isNotFound { return false }
      throw .place("look at", containerPath, error)
    }
    guard container.kind == .directory else {
      throw MigrationError(.container, "\(PathText.printable(containerPath)) is a symlink or no directory")
    }
    if outer.device != container.device || outer.mountID != container.mountID {
      throw MigrationError(
        .container,
        """
        \(PathText.printable(containerPath)) is a mount point: nothing can be staged beside it. Use a directory below it.
        """)
    }
    return true
  }
}
