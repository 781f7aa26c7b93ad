internal import CLinuxShims
internal import Glibc

/// A file that appears under its name only when it is complete.
///
/// It is written as `.NAME.starc-partial.tmp` in the same directory, locked, and renamed by ``commit(sync:)``. Until
/// then a file of that name stays as it was. What a killed run left behind is removed by the next one; while another
/// run is writing the same file, making it fails with `EWOULDBLOCK`.
///
/// A final name that is a symlink stands for what the link leads to. A FIFO, device or anything below `/proc` (such as
/// `/dev/stdout`) is opened and written directly: there ``commit(sync:)`` only ends the writing. One thread at a time;
/// an object that is given up without a commit removes its file.
public final class OutputFile {
  /// What is written to.
  public let descriptor: SharedDescriptor
  /// Whether writing goes straight to an existing special file.
  public let isDirect: Bool
  /// The file that the commit replaces, as it was when this object was made; nil where there was none.
  public let replaced: ReplacedFile?

  private let placement: Placement?
  private let temporaryName: [UInt8]
  private let mode: UInt32
  private var isOpen = true

  private static let suffix = ".starc-partial.tmp"

  /// Opens a file for writing whose final name is `path`. Its mode will be that of the file that it replaces, else 0666
  /// less the umask; until the commit only its owner can read it.
  public init(path: [UInt8]) throws(SystemError) {
    let target = try Self.resolve(path)
    if target.isSpecial {
      descriptor = SharedDescriptor(
        try FileSystem.open(at: FileSystem.currentDirectory, target.path, [.writeOnly, .truncate]))
      isDirect = true
      replaced = nil
      placement = nil
      temporaryName = []
      mode = 0
      return
    }
    let placement = try Placement(target.path)
    mode = target.status.map { $0.mode & 0o777 } ?? (0o666 & ~ProcessFacts.fileModeMask)
    isDirect = false
    replaced = try target.status.map { status throws(SystemError) in
      ReplacedFile(
        status: status, directory: try FileSystem.status(of: placement.directory.rawValue), name: placement.name)
    }
    self.placement = placement
    (descriptor, temporaryName) = try Self.makeTemporary(placement)
  }

  deinit { abandon() }

  /// Puts the file under its final name, replacing what is there. With `sync` its contents are on the disk before and
  /// the name after. On failure the old file is untouched and the new one removed, unless only the last step (bringing
  /// the directory to the disk) failed.
  public func commit(sync: Bool) throws(SystemError) {
    guard isOpen else { throw SystemError("renameat", errno: EBADF) }
    guard let placement else {
      isOpen = false
      return
    }
    do throws(SystemError) {
      try FileSystem.setMode(of: descriptor.rawValue, mode)
      if sync { try FileSystem.syncFile(descriptor.rawValue) }
      // Some file systems report lost data with close only. The lock belongs to the open file, not to the descriptor.
      try descriptor.duplicated().close()
      try FileSystem.rename(
        from: placement.directory.rawValue, temporaryName, to: placement.directory.rawValue, placement.name)
    } catch {
      abandon()
      throw error
    }
    isOpen = false
    if sync { try placement.sync() }
  }

  /// Removes what was written; the final name stays as it was. Does nothing after a commit.
  public func abandon() {
    guard isOpen else { return }
    isOpen = false
    guard let placement else { return }
    try? FileSystem.removeFile(at: placement.directory.rawValue, temporaryName)
  }

  private static func makeTemporary(_ placement: Placement) throws(SystemError) -> (SharedDescriptor, [UInt8]) {
    let directory = placement.directory.rawValue
    let name = placement.hiddenName(suffix: suffix)
    // Every turn either ends or removes a file that a killed run has left; others may do the same meanwhile.
    for _ in 0..<16 {
      do throws(SystemError) {
        if let file = try makeLocked(placement, name) { return (file, name) }
        continue
      } catch {
        if error.errno != EEXIST { throw error }
      }
      if try !removeAbandoned(placement, name) { break }
    }
    // Something that is not ours has the name.
    let other = placement.hiddenName(suffix: "." + String(decoding: try RandomName.make(), as: UTF8.self) + suffix)
    let file = try FileSystem.open(at: directory, other, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
    return (SharedDescriptor(file), other)
  }

  /// Makes the file and locks it. Nil if another run took it for an abandoned one and removed it.
  private static func makeLocked(_ placement: Placement, _ name: [UInt8]) throws(SystemError) -> SharedDescriptor? {
    let directory = placement.directory.rawValue
    let file = SharedDescriptor(
      try FileSystem.open(at: directory, name, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600))
    do throws(SystemError) {
      return try placement.lockNew(file.rawValue, as: name) ? file : nil
    } catch {
      if error.errno != EWOULDBLOCK { try? FileSystem.removeFile(at: directory, name) }
      throw error
    }
  }

  /// Removes the temporary file of a run that is gone. False if the name is something else; throws if the run lives.
  private static func removeAbandoned(_ placement: Placement, _ name: [UInt8]) throws(SystemError) -> Bool {
    let directory = placement.directory.rawValue
    do throws(SystemError) {
      let status = try FileSystem.status(at: directory, name)
      if status.kind != .regular || status.userID != ProcessFacts.effectiveUserID { return false }
      let file = try FileSystem.open(at: directory, name, [.readOnly, .noFollow, .nonBlocking])
      if try placement.lock(file.rawValue, as: name) { try FileSystem.removeFile(at: directory, name) }
    } catch {
      if error.isLockingUnsupported { return false }
      if !error.isNotFound { throw error }
    }
    return true
  }

  private struct Target {
    var path: [UInt8]
    /// Nil for a file that does not exist yet.
    var status: FileStatus?
    var isSpecial: Bool
  }

  /// What the final name stands for.
  private static func resolve(_ path: [UInt8]) throws(SystemError) -> Target {
    let here = FileSystem.currentDirectory
    var path = path
    for _ in 0..<40 {
      let status: FileStatus
      do throws(SystemError) { status = try FileSystem.status(at: here, path) } catch {
        if error.isNotFound { return Target(path: path, status: nil, isSpecial: false) }
        throw error
      }
      switch status.kind {
      case .directory: throw SystemError("openat", errno: EISDIR, path: path)
      case .socket: throw SystemError("openat", errno: ENXIO, path: path)
      case .regular: return Target(path: path, status: status, isSpecial: path.starts(with: "/proc/".utf8))
      case .symlink:
        if path.starts(with: "/proc/".utf8) {
          // A link of this kind leads to an open file, not to the path that it shows.
          let followed = try FileSystem.statusFollowing(at: here, path)
          return Target(path: path, status: followed, isSpecial: true)
        }
        let link = try FileSystem.readLink(at: here, path)
        if link.first == 0x2F {
          path = link
        } else {
          let directory = path.lastIndex(of: 0x2F).map { path[...$0] } ?? []
          path = directory + link
        }
      case .fifo, .characterDevice, .blockDevice, .unknown:
        return Target(path: path, status: status, isSpecial: true)
      }
    }
    throw SystemError("openat", errno: ELOOP, path: path)
  }
}
