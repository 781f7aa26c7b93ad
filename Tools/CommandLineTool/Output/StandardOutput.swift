package import ArchiveIO
internal import Glibc

/// Buffered standard output for results. A reader that goes away is not an error: the rest is dropped. Main thread only.
package final class StandardOutput {
  private var buffer: [UInt8] = []
  private var writer: DescriptorWriter?
  private let token: CancellationToken
  private let isOpen: Bool
  /// Nobody reads what is written: a command that only lists may stop.
  package private(set) var isClosed = false
  /// Whether a person is looking.
  package let isTerminal: Bool

  private static let flushByteCount = 64 << 10

  /// - Parameter isOpen: false when the process was started without standard output.
  package init(isOpen: Bool, token: CancellationToken) {
    self.isOpen = isOpen
    self.token = token
    isTerminal = isOpen && isatty(1) == 1
  }

  /// Fails where an archive cannot be written to standard output.
  package func requireArchiveDestination() throws(Failure) {
    if isTerminal {
      throw .usage("refusing to write an archive to a terminal; redirect standard output or name a file")
    }
    if !isOpen { throw .failed("standard output is closed") }
  }

  /// Adds text.
  package func write(_ text: String) throws(Failure) {
    buffer.append(contentsOf: text.utf8)
    try flushIfNeeded()
  }

  /// Adds bytes.
  package func write(_ bytes: [UInt8]) throws(Failure) {
    buffer.append(contentsOf: bytes)
    try flushIfNeeded()
  }

  private func flushIfNeeded() throws(Failure) {
    if isTerminal || buffer.count >= Self.flushByteCount { try flush() }
  }

  /// Writes what is buffered.
  package func flush() throws(Failure) {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    if isClosed { return }
    do throws(SystemError) {
      if writer == nil {
        writer = try DescriptorWriter(SharedDescriptor(Descriptor.duplicate(of: 1)), token: token)
      }
      try writer?.write(buffer)
    } catch {
      if error.isBrokenPipe {
        isClosed = true
      } else if error.isCancelled {
        throw .cancelled
      } else {
        isClosed = true
        throw .failed("standard output: " + error.message)
      }
    }
  }
}
