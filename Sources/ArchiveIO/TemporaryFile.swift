internal import CLinuxShims
internal import Glibc

/// Files without names.
package enum TemporaryFile {
  /// A file without a name in `$TMPDIR` or `/tmp`, readable by nobody else.
  package static func make() throws(SystemError) -> Descriptor {
    var path = ProcessFacts.environment("TMPDIR") ?? []
    if path.isEmpty { path = Array("/tmp".utf8) }
    do throws(SystemError) {
      return try FileSystem.open(
        at: FileSystem.currentDirectory, path, [.readWrite, .temporaryFile, .exclusive], mode: 0o600)
    } catch {
      // Old kernels and some file systems do not know O_TMPFILE.
      if ![EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(error.errno) { throw error }
    }
    let directory = try FileSystem.open(at: FileSystem.currentDirectory, path, [.path, .directory])
    let name = Array(".starc-".utf8) + (try RandomName.make())
    let file = try FileSystem.open(
      at: directory.rawValue, name, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
    try FileSystem.removeFile(at: directory.rawValue, name)
    return file
  }
}
