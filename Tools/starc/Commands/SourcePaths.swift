internal import ArchiveEngine
internal import ArchiveIO
internal import CommandLineTool

/// A path to archive: where it is, and what it is called in the archive.
struct SourcePath: Sendable {
  /// As the user wrote it.
  let path: [UInt8]
  /// Without a leading "/", without empty and "." components; "." for nothing.
  let archivePath: [UInt8]
  /// From a list of files, whose entries may be gone by now.
  let isListed: Bool

  /// Refuses ".." components.
  init(_ path: [UInt8], isListed: Bool = false) throws(Failure) {
    if path.isEmpty { throw .usage("a path is empty") }
    var components: [ArraySlice<UInt8>] = []
    for component in path.split(separator: 0x2F) where !component.elementsEqual(".".utf8) {
      if component.elementsEqual("..".utf8) {
        throw .usage("\(PathText.printable(path)): a path with \"..\" has no name in an archive; use -C DIR")
      }
      components.append(component)
    }
    self.path = path
    self.isListed = isListed
    archivePath = components.isEmpty ? [0x2E] : Array(components.joined(separator: [0x2F]))
  }

  /// Whether a leading "/" is dropped.
  var isAbsolute: Bool { path.first == 0x2F }
}

/// Leaves out what another path takes in anyway: lists made by `find` name a directory and all that is in it.
struct SourceCover {
  private struct Key: Hashable {
    let isAbsolute: Bool
    let path: [UInt8]
  }

  private let directory: Int32
  private let staysOnFileSystem: Bool
  private var given: Set<Key> = []
  private var isCovered: [Key: Bool] = [:]

  /// - Parameter directory: what relative paths are relative to.
  init(_ paths: [SourcePath], in directory: Int32, staysOnFileSystem: Bool) {
    self.directory = directory
    self.staysOnFileSystem = staysOnFileSystem
    given = Set(paths.map { Key(isAbsolute: $0.isAbsolute, path: $0.archivePath) })
  }

  /// The paths in order, without those that come a second time or lie in a directory that is walked.
  mutating func reduce(_ paths: [SourcePath]) -> [SourcePath] {
    var seen: Set<Key> = []
    var kept: [SourcePath] = []
    for path in paths {
      let key = Key(isAbsolute: path.isAbsolute, path: path.archivePath)
      guard seen.insert(key).inserted else { continue }
      if let parent = Self.parent(key), isWalked(parent, device: device(key)) { continue }
      kept.append(path)
    }
    return kept
  }

  /// Whether everything in a directory is taken in: it is given, or lies in one that is, with no symlink in between.
  private mutating func isWalked(_ key: Key, device: UInt64?) -> Bool {
    if let known = isCovered[key] { return known && (!staysOnFileSystem || self.device(key) == device) }
    let status = self.status(key)
    var result = false
    if status?.kind == .directory {
      result = given.contains(key)
      if !result, let parent = Self.parent(key) { result = isWalked(parent, device: status?.device) }
    }
    isCovered[key] = result
    return result && (!staysOnFileSystem || status?.device == device)
  }

  private func device(_ key: Key) -> UInt64? { staysOnFileSystem ? status(key)?.device : nil }

  private func status(_ key: Key) -> FileStatus? {
    try? FileSystem.status(at: directory, (key.isAbsolute ? [0x2F] : []) + key.path)
  }

  private static func parent(_ key: Key) -> Key? {
    if key.path == [0x2E] { return nil }
    let slash = key.path.lastIndex(of: 0x2F)
    return Key(isAbsolute: key.isAbsolute, path: slash.map { Array(key.path[..<$0]) } ?? [0x2E])
  }
}
