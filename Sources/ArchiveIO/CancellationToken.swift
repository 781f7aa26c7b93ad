internal import CLinuxShims
internal import Glibc
internal import Synchronization

/// Tells a running job, in whatever thread, that it shall end.
///
/// Loops look at ``isCancelled``; waits for pipes and sockets include ``waitDescriptor``. Cancelling cannot be undone.
public final class CancellationToken: Sendable {
  private let flag = Atomic<Bool>(false)
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
    if flag.exchange(true, ordering: .acquiringAndReleasing) { return }
    if waitDescriptor >= 0 { _ = starc_eventfd_signal(waitDescriptor) }
  }

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Throws `ECANCELED` once cancelled.
  public func check() throws(SystemError) {
    if isCancelled { throw SystemError("cancelled", errno: ECANCELED) }
  }
}
