/// A file that a run will put another in place of, and the name that this concerns.
///
/// The name matters where the file has several: the others stay, with the old content.
public struct ReplacedFile: Sendable {
  let device: UInt64
  let inode: UInt64
  let directoryDevice: UInt64
  let directoryInode: UInt64
  let name: [UInt8]

  init(status: FileStatus, directory: FileStatus, name: [UInt8]) {
    (device, inode) = (status.device, status.inode)
    (directoryDevice, directoryInode) = (directory.device, directory.inode)
    self.name = name
  }

  /// Whether a file with this status may be the one: the cheap question, to be asked of every file.
  package func mayBe(_ status: FileStatus) -> Bool { status.inode == inode && status.device == device }

  /// Whether a name in an open directory, whose file ``mayBe(_:)`` accepts, is the one that is replaced.
  package func isNamed(_ name: [UInt8], in directory: Int32) throws(SystemError) -> Bool {
    guard name == self.name else { return false }
    let status = try FileSystem.status(of: directory)
    return status.inode == directoryInode && status.device == directoryDevice
  }
}
