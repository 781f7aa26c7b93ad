internal import CLinuxShims
internal import Synchronization

/// A file descriptor with one owner, who closes it.
public struct Descriptor: ~Copyable, Sendable {
  /// The descriptor's number, valid as long as this value lives.
  public let rawValue: Int32

  /// Takes over a descriptor that the caller owns.
  public init(adopting rawValue: Int32) { self.rawValue = rawValue }

  deinit { _ = starc_close(rawValue) }

  /// Closes the descriptor and reports a failure, which for a file just written may be the only sign of lost data.
  public consuming func close() throws(SystemError) {
    let number = rawValue
    discard self
    _ = try checked("close", starc_close(number))
  }

  /// Gives the descriptor away without closing it.
  public consuming func release() -> Int32 {
    let number = rawValue
    discard self
    return number
  }

  /// A second descriptor (close-on-exec) for the same open file.
  public func duplicated() throws(SystemError) -> Descriptor {
    try Descriptor.duplicate(of: rawValue)
  }

  /// A descriptor of one's own for an open file that somebody else owns, such as standard output.
  public static func duplicate(of rawValue: Int32) throws(SystemError) -> Descriptor {
    Descriptor(adopting: Int32(truncatingIfNeeded: try checked("dup", starc_dup(rawValue))))
  }
}

/// A descriptor with several owners; the last one closes it.
public final class SharedDescriptor: Sendable {
  /// The descriptor's number, valid as long as this object lives.
  public let rawValue: Int32
  private let isClosed = Atomic(false)

  /// Takes over a descriptor.
  public init(_ descriptor: consuming Descriptor) { rawValue = descriptor.release() }

  deinit { if !isClosed.load(ordering: .relaxed) { _ = starc_close(rawValue) } }

  /// Closes the descriptor before the last owner is gone, and reports a failure, which for a file just written may be the only
  /// sign of lost data. Nobody may use it any more, which the caller has to know.
  package func close() throws(SystemError) {
    if isClosed.exchange(true, ordering: .relaxed) { return }
    _ = try checked("close", starc_close(rawValue))
  }

  /// A second descriptor (close-on-exec) for the same open file.
  public func duplicated() throws(SystemError) -> Descriptor { try Descriptor.duplicate(of: rawValue) }
}
