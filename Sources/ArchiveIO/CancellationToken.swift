internal import CLinuxShims
internal import Glibc
internal import Synchronization

/// Tells a running job, in whatever thread, that it shall end.
///
/// Loops look at ``isCancelled``; waits for pipes and sockets include ``waitDescriptor``. Cancelling cannot be undone.
public final class CancellationToken: Sendable {
  private struct Handlers {
    var waiting: [UInt64: @Sendable () -> Void] = [:]
    var last: UInt64 = 0
  }

  private let flag = Atomic<Bool>(false)
  private let handlers = Locked(Handlers())
  /// An eventfd that becomes readable with cancellation; -1 if none could be made (waits then look at the flag
  /// every 50 ms). Whoever writes to it cancels the next wait.
  public let waitDescriptor: Int32

  /// A token that is not cancelled.
  public init() {
    let result = starc_eventfd()
    waitDescriptor = result >= 0 ? Int32(truncatingIfNeeded: result) : -1
  }

  deinit {
    if waitDescriptor >= 0 { _ = starc_close(waitDescriptor) }
  }

  /// Cancels; may be called from any thread and repeatedly.
  public func cancel() {
    let pending: [UInt64: @Sendable () -> Void] = handlers.withLock { handlers in
      if flag.exchange(true, ordering: .acquiringAndReleasing) { return [:] }
      defer { handlers.waiting = [:] }
      return handlers.waiting
    }
    if waitDescriptor >= 0 { _ = starc_eventfd_signal(waitDescriptor) }
    for handler in pending.values { handler() }
  }

  /// Keeps a handler known to its token; releasing it forgets the handler.
  public final class Registration: Sendable {
    private let token: CancellationToken
    private let number: UInt64

    fileprivate init(_ token: CancellationToken, _ number: UInt64) {
      self.token = token
      self.number = number
    }

    deinit { token.handlers.withLock { $0.waiting[number] = nil } }
  }

  /// Calls `handler` once when the token is cancelled, on the cancelling thread; at once when it already is. For waits
  /// that cannot include ``waitDescriptor``, such as those for a semaphore.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) -> Registration {
    let number: UInt64? = handlers.withLock { handlers in
      if isCancelled { return nil }
      handlers.last += 1
      handlers.waiting[handlers.last] = handler
      return handlers.last
    }
    if number == nil { handler() }
    return Registration(self, number ?? 0)
  }

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Throws `ECANCELED` once cancelled.
  public func check() throws(SystemError) {
    if isCancelled { throw SystemError("cancelled", errno: ECANCELED) }
  }
}
