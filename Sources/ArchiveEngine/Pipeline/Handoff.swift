internal import ArchiveIO

/// Carries an object that is not thread-safe to the one thread that will use it.
struct Handoff<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// Lets the caller's event handler run once at a time, from whatever thread.
final class EventGate<Event: Sendable>: Sendable {
  private let handler: Locked<@Sendable (Event) -> Void>

  init(_ handler: @escaping @Sendable (Event) -> Void) { self.handler = Locked(handler) }

  func send(_ event: Event) { handler.withLock { $0(event) } }
}
