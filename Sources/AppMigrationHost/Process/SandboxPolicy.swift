internal import ArchiveIO
internal import CMigrationShims

/// Which files an extension may use, and how.
struct SandboxPolicy: Sendable {
  /// What a file or a directory with everything below it may be used for.
  struct Rights: OptionSet, Sendable {
    let rawValue: Int32
    static let read = Rights(rawValue: Int32(AMK_READ))
    static let execute = Rights(rawValue: Int32(AMK_EXECUTE))
    static let write = Rights(rawValue: Int32(AMK_WRITE))
    static let move = Rights(rawValue: Int32(AMK_MOVE))
    /// Read files whose names are known, list nothing.
    static let open = Rights(rawValue: Int32(AMK_OPEN))
  }

  /// One thing that is granted, held open: what has its name later does not count.
  struct Grant: Sendable {
    let object: SharedDescriptor
    let isDirectory: Bool
    let rights: Rights
  }

  /// Programs and libraries of the system.
  private static let systemDirectories = ["/usr", "/lib", "/lib64", "/bin", "/sbin"]
  /// Of the settings only those that the C library and Foundation read: others hold secrets, which root could read.
  private static let settings = [
    "ld.so.cache", "ld.so.preload", "localtime", "timezone", "passwd", "group", "nsswitch.conf", "locale.alias",
  ]
  private static let readOnlyDevices = ["/dev/zero", "/dev/random", "/dev/urandom"]
  /// How many processors there are, by which Dispatch plans.
  private static let machineFacts = ["/sys/devices/system/cpu"]

  /// The grants.
  private(set) var grants: [Grant] = []

  /// Draws up the grants for a launch.
  init(_ launch: ExtensionLaunch, executable: SharedDescriptor, privateDirectory: SharedDescriptor)
    throws(MigrationError)
  {
    let container: Rights
    switch launch.access {
    case .export: container = .read
    case .import(let stagingPath):
      container = [.read, .write, .move]
      try require(stagingPath, container)
    }
    for path in [launch.containerPath] + launch.groupPaths { try require(path, container) }

    // Moving from here into the container is what atomic writing does.
    let own: Rights = launch.access == .export ? [.read, .write] : [.read, .write, .move]
    grants.append(Grant(object: privateDirectory, isDirectory: true, rights: own))
    grants.append(Grant(object: executable, isDirectory: false, rights: [.read, .execute]))
    for library in SharedLibraries.needed(by: executable) {
      grants.append(Grant(object: library, isDirectory: false, rights: [.read, .execute]))
    }
    for path in Self.systemDirectories { allow(path, [.read, .execute]) }
    for name in Self.settings { allow("/etc/" + name, .read) }
    for path in Self.readOnlyDevices + Self.machineFacts { allow(path, .read) }
    allow("/dev/null", [.read, .write])
    // Dispatch reads `/proc/THREAD/stat` of its threads, whose numbers nobody knows before, and traps if it cannot. What is private
    // about other processes (variables, memory, descriptors) the kernel keeps from a process under Landlock all the same.
    allow("/proc", .open)
  }

  /// A set of rules of Landlock with these grants.
  func ruleset(abi: Int32) throws(SystemError) -> SharedDescriptor {
    let result = amk_landlock_create(abi)
    if result < 0 { throw SystemError("landlock_create_ruleset", errno: Int32(-result)) }
    let ruleset = SharedDescriptor(Descriptor(adopting: Int32(result)))
    for grant in grants {
      let result = amk_landlock_allow(
        ruleset.rawValue, abi, grant.object.rawValue, grant.isDirectory ? 1 : 0, grant.rights.rawValue)
      if result < 0 { throw SystemError("landlock_add_rule", errno: Int32(-result)) }
    }
    return ruleset
  }

  /// Grants a directory of the app, which must be there.
  private mutating func require(_ path: [UInt8], _ rights: Rights) throws(MigrationError) {
    let name = String(decoding: path, as: UTF8.self)
    guard path.first == UInt8(ascii: "/") else {
      throw MigrationError(.invalidArgument, "\(name) is not an absolute path; give one to grant it to the extension")
    }
    do throws(SystemError) {
      let object = try FileSystem.open(at: FileSystem.currentDirectory, path, [.path, .directory])
      grants.append(Grant(object: SharedDescriptor(object), isDirectory: true, rights: rights))
    } catch {
      throw MigrationError(.sandbox, "\(name) cannot be granted to the extension: \(error.message)")
    }
  }

  /// Grants something of the system, if it is there.
  private mutating func allow(_ path: String, _ rights: Rights) {
    guard let object = try? FileSystem.open(at: FileSystem.currentDirectory, Array(path.utf8), .path),
      let status = try? FileSystem.status(of: object.rawValue)
    else { return }
    grants.append(
      Grant(object: SharedDescriptor(object), isDirectory: status.kind == .directory, rights: rights))
  }
}
