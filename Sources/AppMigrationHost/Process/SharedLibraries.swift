internal import ArchiveIO

/// Finds the shared libraries of a program, as the dynamic linker would.
///
/// The program may be hostile and name whatever it likes as a library, so that a file counts only if it is a shared object itself:
/// no secret is one.
struct SharedLibraries {
  /// More files than that are not followed.
  private static let limit = 512
  /// Where the dynamic linker looks besides; what lies there is granted with the system's directories.
  private static let systemDirectories = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"].map {
    Array($0.utf8)
  }

  /// The files that a program needs and that lie outside the system's directories, open as `O_PATH`.
  static func needed(by executable: SharedDescriptor) -> [SharedDescriptor] {
    var search = SharedLibraries()
    if let file = Self.parsed(executable) { search.follow(file, executable, inherited: []) }
    return search.found
  }

  private var found: [SharedDescriptor] = []
  private var seen: [FileStatus] = []

  private mutating func follow(_ file: ELFFile, _ object: SharedDescriptor, inherited: [[UInt8]]) {
    guard let path = try? RealPath.of(object.rawValue) else { return }
    let origin = Array(path[..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)])
    let own = file.searchPaths.flatMap { Self.directories($0, origin: origin) }
    let passedOn = file.isInherited ? own + inherited : inherited
    // With DT_RUNPATH what was inherited does not count for the file itself.
    let places = (file.isInherited || own.isEmpty ? own + inherited : own) + Self.systemDirectories
    if let interpreter = file.interpreter, interpreter.first == UInt8(ascii: "/") { take(interpreter, passedOn) }
    for name in file.needed {
      // A name with a slash is a path, which no extension that was built in the usual way has.
      if name.isEmpty || name.contains(UInt8(ascii: "/")) { continue }
      for place in places where take(place + [UInt8(ascii: "/")] + name, passedOn) { break }
    }
  }

  /// Takes a library, and what it needs, if it is one. True when the search for it is over.
  @discardableResult private mutating func take(_ path: [UInt8], _ inherited: [[UInt8]]) -> Bool {
    guard found.count < Self.limit,
      let opened = try? FileSystem.open(at: FileSystem.currentDirectory, path, .path),
      let status = try? FileSystem.status(of: opened.rawValue), status.kind == .regular
    else { return false }
    if seen.contains(where: { $0.isSameFile(as: status) }) { return true }
    let object = SharedDescriptor(opened)
    guard let file = Self.parsed(object), file.kind == .sharedObject else { return false }
    seen.append(status)
    found.append(object)
    follow(file, object, inherited: inherited)
    return true
  }

  /// Reads a file that is open as `O_PATH`: by then it is known to be a regular file, whose opening has no effect.
  private static func parsed(_ object: SharedDescriptor) -> ELFFile? {
    let path = Array("/proc/self/fd/\(object.rawValue)".utf8)
    guard let status = try? FileSystem.status(of: object.rawValue), status.kind == .regular,
      let file = try? FileSystem.open(at: FileSystem.currentDirectory, path, .readOnly)
    else { return nil }
    return ELFFile(file.rawValue)
  }

  /// The directories of a search path with the program's own directory put in for `$ORIGIN`. Relative ones are left out.
  static func directories(_ searchPath: [UInt8], origin: [UInt8]) -> [[UInt8]] {
    searchPath.split(separator: UInt8(ascii: ":")).prefix(64).compactMap { part in
      var directory = Array(part)
      for variable in ["$ORIGIN", "${ORIGIN}"] where directory.starts(with: variable.utf8) {
        directory = origin + directory.dropFirst(variable.utf8.count)
      }
      guard directory.first == UInt8(ascii: "/"), !directory.contains(UInt8(ascii: "$")) else { return nil }
      return directory
    }
  }
}
