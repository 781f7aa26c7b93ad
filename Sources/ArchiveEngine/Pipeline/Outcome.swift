internal import ArchiveIO
internal import Dispatch
internal import Glibc

/// A value that one thread provides once and another waits for.
final class Outcome<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, ArchiveError>?>(nil)
  private let done = DispatchSemaphore(value: 0)

  /// Provides the value; once.
  func set(_ outcome: Result<Value, ArchiveError>) {
    result.withLock { $0 = outcome }
    done.signal()
  }

  /// Waits for the value. May be called again.
  func wait() throws(ArchiveError) -> Value {
    done.wait()
    done.signal()
    guard let outcome = result.withLock({ $0 }) else { throw ArchiveError(.cancelled, "cancelled") }
    return try outcome.get()
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Whether both hold the same bytes.
  func elementsEqualBytes(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    return unsafe memcmp(left, right, count) == 0
  }
}
