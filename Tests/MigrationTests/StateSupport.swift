import AppMigrationHost
import ArchiveIO
import TestSupport

/// A container in a directory of its own.
struct Place {
  let directory: TemporaryDirectory
  let layout: ContainerLayout

  init(_ kind: TemporaryDirectory.Place = .memory) throws {
    directory = try TemporaryDirectory(kind)
    layout = try ContainerLayout(
      bundleIdentifier: "org.example.notes", containerPath: Array(directory.file("c").utf8),
      environment: ["APP_GROUPS_ROOT": directory.file("groups")])
  }

  /// All that lies in the directory, with the contents of files.
  func listing() throws -> [String] { try Self.listing(directory.root) }

  static func listing(_ root: SharedDescriptor) throws -> [String] {
    let walker = try DirectoryWalker(root: root)
    var lines: [String] = []
    while let step = walker.next() {
      switch step {
      case .failure(let error): throw error
      case .entry(let entry):
        var line = String(decoding: entry.relativePath, as: UTF8.self)
        switch entry.status.kind {
        case .directory: line += "/"
        case .regular:
          let file = try FileSystem.open(at: walker.directoryDescriptor, entry.name, .readOnly)
          var bytes = [UInt8](repeating: 0, count: Int(entry.status.byteCount))
          _ = try unsafe bytes.withUnsafeMutableBytes { try unsafe FileSystem.readFully(file.rawValue, into: $0) }
          line += "=" + String(decoding: bytes, as: UTF8.self)
        default: line += " \(entry.status.kind)"
        }
        lines.append(line)
      }
    }
    return lines
  }
}

/// Makes files and directories through the calls that faults are injected into.
func put(_ text: String, at directory: Int32, _ path: String) throws(SystemError) {
  let file = try FileSystem.open(at: directory, Array(path.utf8), [.writeOnly, .create, .truncate], mode: 0o644)
  let bytes = Array(text.utf8)
  try unsafe bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in
    try unsafe FileSystem.write(file.rawValue, bytes)
  }
}

func makeDirectory(at directory: Int32, _ path: String, mode: UInt32 = 0o755) throws(SystemError) {
  try FileSystem.makeDirectory(at: directory, Array(path.utf8), mode: mode)
}

/// For runs in which nothing may have to be stopped.
let noOrphans: OrphanStopper = { (path) throws(MigrationError) in
  throw MigrationError(.system, "nothing was to be stopped")
}

/// The message of the error that the body throws; nil if it throws none.
func message(_ code: MigrationError.Code, _ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as MigrationError {
    return error.code == code ? error.message : "code \(error.code): \(error.message)"
  } catch { return "other: \(error)" }
}
