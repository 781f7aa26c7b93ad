internal import CLinuxShims
internal import Glibc

/// A system call that failed: which, on what, and why.
public struct SystemError: Error, Sendable, Equatable {
  /// The `errno` value.
  public var errno: Int32
  /// The call's C name, for example "openat".
  public var call: StaticString
  /// The path or a description of the object; bytes that are not printable are escaped by whoever prints it.
  public var path: [UInt8]

  /// Makes an error of a call's C name, its `errno` and the object's name.
  public init(_ call: StaticString, errno: Int32, path: [UInt8] = []) {
    self.errno = errno
    self.call = call
    self.path = path
  }

  /// Equal in call, `errno` and path.
  public static func == (left: SystemError, right: SystemError) -> Bool {
    left.errno == right.errno && left.path == right.path
      && left.call.description == right.call.description
  }
}

extension SystemError {
  /// The system's text for `errno`, in English whatever the locale.
  public var reason: String {
    var buffer = [CChar](repeating: 0, count: 128)
    unsafe starc_error_text(errno, &buffer, buffer.count)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The call and the reason, without the path: "openat: No such file or directory".
  public var message: String { "\(call): \(reason)" }

  /// The name does not exist (`ENOENT`).
  public var isNotFound: Bool { errno == ENOENT }
  /// The name exists already (`EEXIST`), or is a directory that is not empty.
  public var alreadyExists: Bool { errno == EEXIST || errno == ENOTEMPTY }
  /// Permission is missing (`EACCES`, `EPERM`).
  public var isPermissionDenied: Bool { errno == EACCES || errno == EPERM }
  /// The file system cannot do this (`EOPNOTSUPP`, `ENOSYS`).
  public var isNotSupported: Bool { errno == EOPNOTSUPP || errno == ENOSYS }
  /// A symlink, or something else that is not a directory, lies where a directory is needed (`ELOOP`, `ENOTDIR`).
  public var isNotDirectory: Bool { errno == ENOTDIR || errno == ELOOP }
  /// No space, no inodes, no quota, or the file is larger than is allowed.
  public var isOutOfSpace: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }
  /// The reader of a pipe or socket is gone (`EPIPE`, `ECONNRESET`).
  public var isBrokenPipe: Bool { errno == EPIPE || errno == ECONNRESET }
  /// A ``CancellationToken`` was cancelled (`ECANCELED`).
  /// The file system does not take the name: too long, or bytes that it refuses.
  public var isNameRefused: Bool { errno == ENAMETOOLONG || errno == EILSEQ || errno == EINVAL }
  /// `ECANCELED`: a ``CancellationToken`` was cancelled.
  public var isCancelled: Bool { errno == ECANCELED }
  /// No descriptors are left (`EMFILE`, `ENFILE`).
  public var isOutOfDescriptors: Bool { errno == EMFILE || errno == ENFILE }
}

/// Turns a wrapper's result into a value or a ``SystemError``.
@inline(__always)
func checked(
  _ call: StaticString, _ result: Int64, _ path: @autoclosure () -> [UInt8] = []
) throws(SystemError) -> Int64 {
  if result < 0 { throw SystemError(call, errno: Int32(truncatingIfNeeded: -result), path: path()) }
  return result
}
