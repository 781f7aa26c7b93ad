/// A system call that failed: which, on what, and why.
public struct SystemError: Error, Sendable, Equatable {
  /// The `errno` value.
  public var errno: Int32
  /// The call's C name, for example "openat".
  public var call: StaticString
  /// The path or a description of the object; bytes that are not printable are escaped by whoever prints it.
  public var path: [UInt8]

  public init(_ call: StaticString, errno: Int32, path: [UInt8] = []) {
    self.errno = errno
    self.call = call
    self.path = path
  }

  public static func == (left: SystemError, right: SystemError) -> Bool {
    left.errno == right.errno && left.path == right.path
      && left.call.description == right.call.description
  }
}
