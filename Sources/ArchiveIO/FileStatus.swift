internal import CLinuxShims

/// What a name stands for.
public enum FileKind: UInt8, Sendable {
  case regular, directory, symlink, fifo, socket, characterDevice, blockDevice, unknown
}

/// What the system says about a file (`statx`), symlinks not followed.
public struct FileStatus: Sendable, Equatable {
  /// What the file is.
  public var kind: FileKind
  /// Permission bits including set-id and sticky: 07777.
  public var mode: UInt32
  /// The owning user.
  public var userID: UInt32
  /// The owning group.
  public var groupID: UInt32
  /// The size in bytes; for a symlink the length of its target.
  public var byteCount: Int64
  /// The space in use, in bytes (512 times the block count).
  public var allocatedByteCount: Int64
  /// Modification time: seconds since 1970, negative before.
  public var modificationSeconds: Int64
  /// Modification time: nanoseconds within the second.
  public var modificationNanoseconds: UInt32
  /// Time of the last change of the inode: seconds since 1970.
  public var changeSeconds: Int64
  /// Time of the last change of the inode: nanoseconds within the second.
  public var changeNanoseconds: UInt32
  /// The file system's device: major number in the upper, minor in the lower 32 bits.
  public var device: UInt64
  /// The inode number, unique on its device.
  public var inode: UInt64
  /// How many names the inode has.
  public var linkCount: UInt32
  /// Of a device node: its major number.
  public var deviceMajor: UInt32
  /// Of a device node: its minor number.
  public var deviceMinor: UInt32
  /// The mount that the file lies on, 0 where the kernel does not tell.
  public var mountID: UInt64

  init(_ status: starc_status) {
    kind =
      switch status.mode & 0o170000 {
      case 0o100000: .regular
      case 0o040000: .directory
      case 0o120000: .symlink
      case 0o010000: .fifo
      case 0o140000: .socket
      case 0o020000: .characterDevice
      case 0o060000: .blockDevice
      default: .unknown
      }
    mode = status.mode & 0o7777
    userID = status.user_id
    groupID = status.group_id
    byteCount = status.byte_count
    allocatedByteCount = status.block_count.multipliedReportingOverflow(by: 512).partialValue
    modificationSeconds = status.modification_seconds
    modificationNanoseconds = status.modification_nanoseconds
    changeSeconds = status.change_seconds
    changeNanoseconds = status.change_nanoseconds
    device = UInt64(status.device_major) << 32 | UInt64(status.device_minor)
    inode = status.inode
    linkCount = status.link_count
    deviceMajor = status.special_device_major
    deviceMinor = status.special_device_minor
    mountID = status.mount_id
  }

  /// Whether both are the same inode of the same device.
  public func isSameFile(as other: FileStatus) -> Bool { inode == other.inode && device == other.device }

  /// Whether size, modification and change time are the same: nothing was written in between.
  public func isUnchanged(since other: FileStatus) -> Bool {
    isSameFile(as: other) && byteCount == other.byteCount && modificationSeconds == other.modificationSeconds
      && modificationNanoseconds == other.modificationNanoseconds && changeSeconds == other.changeSeconds
      && changeNanoseconds == other.changeNanoseconds
  }
}
