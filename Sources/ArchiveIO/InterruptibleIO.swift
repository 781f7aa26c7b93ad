internal import CLinuxShims
internal import Glibc

/// What a descriptor leads to, as far as waiting is concerned.
enum StreamKind {
  /// Reads and writes end by themselves.
  case file
  case pipe
  case socket
  case terminal
  /// Another device; waiting works where its driver knows it.
  case device

  init(of descriptor: Int32) throws(SystemError) {
    self =
      switch try FileSystem.status(of: descriptor).kind {
      case .fifo: .pipe
      case .socket: .socket
      case .characterDevice: isatty(descriptor) == 1 ? .terminal : .device
      default: .file
      }
  }
}

extension CancellationToken {
  /// Throws `EBADF` if a descriptor is not open for this direction: waiting for the wrong end of a pipe never ends.
  static func checkAccess(_ descriptor: Int32, writing: Bool) throws(SystemError) {
    let access = Int32(truncatingIfNeeded: try checked("fcntl", starc_getfl(descriptor))) & O_ACCMODE
    if access != O_RDWR && access != (writing ? O_WRONLY : O_RDONLY) {
      throw SystemError(writing ? "write" : "read", errno: EBADF)
    }
  }

  /// Waits until a descriptor can be read from or written to. Throws `ECANCELED` when the token is cancelled first.
  static func wait(for descriptor: Int32, writing: Bool, token: CancellationToken?) throws(SystemError) {
    let wake = token?.waitDescriptor ?? -1
    // Without an eventfd the flag is looked at from time to time.
    let timeout: Int32 = token != nil && wake < 0 ? 50 : -1
    while true {
      try token?.check()
      let ready = try checked("poll", starc_poll(descriptor, writing ? 1 : 0, wake, timeout))
      // Also when somebody, such as a signal handler, wrote to the descriptor without cancelling.
      if ready & 2 != 0 { token?.cancel() }
      try token?.check()
      if ready & 1 != 0 { return }
    }
  }

  /// An own open file description for a pipe or terminal, which does not block. Flags belong to the description, and
  /// that of a standard stream is shared with other processes: it must not be changed. Nil where the system refuses.
  static func reopen(_ descriptor: Int32, _ flags: OpenFlags) throws(SystemError) -> Descriptor? {
    do throws(SystemError) {
      return try FileSystem.open(
        at: FileSystem.currentDirectory, Array("/proc/self/fd/\(descriptor)".utf8), flags.union(.nonBlocking))
    } catch {
      // A pipe for writing that nobody reads.
      if error.errno == ENXIO { throw SystemError("write", errno: EPIPE) }
      return nil
    }
  }
}

/// Reads from a file, pipe, socket or terminal, and gives up when a token is cancelled. One thread at a time.
public final class DescriptorReader {
  private let descriptor: SharedDescriptor
  private let token: CancellationToken?
  private let kind: StreamKind
  /// A description of our own that does not block.
  private var own: SharedDescriptor?
  /// How many bytes were read.
  public private(set) var byteCount: Int64 = 0

  /// Reads from where the descriptor's position is.
  public init(_ descriptor: SharedDescriptor, token: CancellationToken? = nil) throws(SystemError) {
    self.descriptor = descriptor
    self.token = token
    kind = try StreamKind(of: descriptor.rawValue)
    try CancellationToken.checkAccess(descriptor.rawValue, writing: false)
    if kind == .pipe || kind == .terminal {
      if let own = try CancellationToken.reopen(descriptor.rawValue, .readOnly) { self.own = SharedDescriptor(own) }
    }
  }

  /// Whether this is a regular file or block device, which never makes one wait for others.
  public var isFile: Bool { kind == .file }

  /// Reads what is there, at least one byte, at most the buffer's size; 0 is the end. `ECANCELED` when cancelled.
  @unsafe public func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    if unsafe buffer.isEmpty { return 0 }
    let number = own?.rawValue ?? descriptor.rawValue
    while true {
      if kind == .file {
        try token?.check()
      } else {
        try CancellationToken.wait(for: number, writing: false, token: token)
      }
      let result: Int64 =
        if kind == .socket {
          unsafe starc_recv(number, buffer.baseAddress, buffer.count)
        } else {
          unsafe starc_read(number, buffer.baseAddress, buffer.count)
        }
      // Somebody else who reads from the same pipe was faster.
      if result == Int64(-EAGAIN) && kind != .file { continue }
      let count = Int(try checked("read", result))
      byteCount += Int64(count)
      return count
    }
  }

  /// Reads until the buffer is full or the stream ends; returns the number of bytes.
  @unsafe public func readFully(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
      if count == 0 { break }
      done += count
    }
    return done
  }
}

/// Writes to a file, pipe, socket or terminal, and gives up when a token is cancelled, even if the other end has
/// stopped. A reader that is gone is the error `EPIPE`; no signal is raised. One thread at a time.
public final class DescriptorWriter {
  private let descriptor: SharedDescriptor
  private let token: CancellationToken?
  private let kind: StreamKind
  private var own: SharedDescriptor?
  /// How many bytes were written.
  public private(set) var byteCount: Int64 = 0

  /// Bytes for one write to a description that may block, after `poll` said that there is room: pipes have room for
  /// `PIPE_BUF` then, terminals for less.
  private static let pipeStep = 4096
  private static let terminalStep = 256
  /// Bytes between two looks at the token for files.
  private static let fileStep = 4 << 20

  /// Writes from where the descriptor's position is.
  public init(_ descriptor: SharedDescriptor, token: CancellationToken? = nil) throws(SystemError) {
    self.descriptor = descriptor
    self.token = token
    kind = try StreamKind(of: descriptor.rawValue)
    try CancellationToken.checkAccess(descriptor.rawValue, writing: true)
    if kind == .pipe || kind == .terminal {
      if let own = try CancellationToken.reopen(descriptor.rawValue, .writeOnly) { self.own = SharedDescriptor(own) }
    }
  }

  /// Whether this is a regular file or block device, which never makes one wait for others.
  public var isFile: Bool { kind == .file }

  /// Writes all bytes.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(SystemError) in
      try unsafe write([UnsafeRawBufferPointer(buffer)])
    }
  }

  /// Writes all bytes of all pieces, gathered.
  @unsafe public func write(_ buffers: [UnsafeRawBufferPointer]) throws(SystemError) {
    var pieces = unsafe GatheredBytes(buffers)
    let number = own?.rawValue ?? descriptor.rawValue
    let limit =
      switch kind {
      case .file: Self.fileStep
      case .pipe: own == nil ? Self.pipeStep : .max
      case .terminal: own == nil ? Self.terminalStep : .max
      case .socket, .device: Int.max
      }
    while pieces.byteCount > 0 {
      if kind == .file {
        try token?.check()
      } else {
        try CancellationToken.wait(for: number, writing: true, token: token)
      }
      let before = pieces.byteCount
      var mustWait = false
      try unsafe pieces.advance(limit: limit) { list, count throws(SystemError) in
        let result: Int64 =
          switch kind {
          case .file: unsafe starc_writev_file(number, list, count)
          case .socket: unsafe starc_sendmsg(number, list, count)
          case .pipe, .terminal, .device: unsafe starc_writev(number, list, count)
          }
        if result == Int64(-EAGAIN) && kind != .file {
          mustWait = true
          return 0
        }
        return try checked("write", result)
      }
      if pieces.byteCount == before && !mustWait { throw SystemError("write", errno: EIO) }
      byteCount += Int64(before - pieces.byteCount)
    }
  }
}
