internal import ArchiveIO

/// Carries an object that is not thread-safe to the one thread that will use it.
struct Handoff<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// Lets the caller's event handler run once at a time, from whatever thread.
final class EventGate<Event: Sendable>: Sendable {
  // Beside the lock, not in it: a closure that is passed as `inout` to generic code comes back in one more wrapper each time, and after some
  // thousands of events calling it would be deeper than a thread's stack.
  private let handler: @Sendable (Event) -> Void
  private let turn = Locked(false)

  init(_ handler: @escaping @Sendable (Event) -> Void) { self.handler = handler }

  func send(_ event: Event) { turn.withLock { _ in handler(event) } }
}
