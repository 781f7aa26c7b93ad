import ArchiveIO
import Foundation
import Glibc

extension Engine {
  /// Lends the reading end of a pipe through which the bytes come; what it does not hold by itself a thread writes.
  static func withPipe<R>(_ bytes: [UInt8], _ body: (Int32) throws -> R) throws -> R {
    let (reading, writing) = try makePipe()
    if bytes.count <= 60_000 {
      try DescriptorWriter(SharedDescriptor(Descriptor(adopting: writing))).write(bytes)
      return try withExtendedLifetime(reading) { try body(reading.rawValue) }
    }
    Thread {
      // Foundation keeps the closure longer than the thread: what it captures would not be closed.
      let own = SharedDescriptor(Descriptor(adopting: writing))
      try? DescriptorWriter(own).write(bytes)
    }.start()
    return try withExtendedLifetime(reading) { try body(reading.rawValue) }
  }

  /// Both ends of a pipe.
  static func makePipe() throws -> (reading: SharedDescriptor, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    if unsafe pipe(&ends) != 0 { throw SystemError("pipe", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (SharedDescriptor(Descriptor(adopting: ends[0])), ends[1])
  }
}
