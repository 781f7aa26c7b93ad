internal import ArchiveIO

/// The common end of a run: the first failure or the caller's cancellation, seen by all its threads.
///
/// Any thread may call anything here.
final class StopSignal: Sendable {
  private let first = Locked<ArchiveError?>(nil)
  /// Set at the first failure and by the caller's token; every wait of the run listens to it.
  let token: CancellationToken
  private let registration: CancellationToken.Registration?

  init(caller: CancellationToken? = nil) {
    let token = CancellationToken()
    self.token = token
    registration = caller?.onCancel { token.cancel() }
  }

  /// Remembers the error, unless an earlier one is there, and stops the run.
  func fail(_ error: ArchiveError) {
    first.withLock { if $0 == nil { $0 = error } }
    token.cancel()
  }

  /// True after a failure or a cancellation.
  var isSet: Bool { token.isCancelled }

  /// The error to report, when the run was stopped.
  var error: ArchiveError? {
    guard isSet else { return nil }
    return first.withLock { $0 } ?? ArchiveError(.cancelled, "cancelled")
  }

  /// Throws what stopped the run, if anything did.
  func check() throws(ArchiveError) {
    if let error { throw error }
  }
}
