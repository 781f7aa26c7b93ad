internal import ArchiveIO

extension AppIdentity {
  /// The app groups of this process: those of `EXECUTABLE.entitlements` beside the executable, each once. Without that file there are none.
  package static func groups() throws(MigrationError) -> [String] {
    let executable = try? FileSystem.readLink(at: FileSystem.currentDirectory, Array("/proc/self/exe".utf8))
    return try groups(executable: executable)
  }

  package static func groups(executable: [UInt8]?) throws(MigrationError) -> [String] {
    guard let executable, let file = try PropertyListFile(path: executable + Array(".entitlements".utf8)) else {
      return []
    }
    return try Entitlements.groups(of: file)
  }
}
