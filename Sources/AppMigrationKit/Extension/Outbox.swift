internal import ArchiveIO
internal import Dispatch
internal import MigrationWire

/// Sends messages in order. A caller waits while the socket is full, suspended: no thread of Swift's pool is ever blocked.
final class Outbox: Sendable {
  /// A message and the descriptor that goes with it, kept open until it is sent.
  struct Packet: Sendable {
    var bytes: [UInt8]
    var descriptor: SharedDescriptor?
  }

  private struct Waiter {
    var last: UInt64
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var queue: ArraySlice<Packet> = []
    var waiters: [Waiter] = []
    var queued: UInt64 = 0
    var sent: UInt64 = 0
    var isDraining = false
    var failure: SystemError?
  }

  private let socket: MessageSocket
  private let state = Locked(State())
  private let drainQueue = DispatchQueue(label: "AppMigrationKit.Outbox")

  init(_ socket: MessageSocket) { self.socket = socket }

  /// Puts packets behind those that wait already and sends what the socket takes at once.
  ///
  /// - Returns: a ticket for ``wait(for:)``, or nil when everything was sent.
  func post(_ packets: [Packet]) throws -> UInt64? {
    try state.withLock { state -> UInt64? in
      if let failure = state.failure { throw failure }
      state.queue += packets
      state.queued += UInt64(packets.count)
      if !state.isDraining { flush(&state) }
      if let failure = state.failure { throw failure }
      if state.queue.isEmpty { return nil }
      startDraining(&state)
      return state.queued
    }
  }

  /// Whether everything was sent.
  var isEmpty: Bool { state.withLock { $0.queue.isEmpty } }

  /// Returns when everything up to a ticket was sent.
  func wait(for ticket: UInt64) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let result: Result<Void, any Error>? = state.withLock { state in
        if state.sent >= ticket { return .success(()) }
        if let failure = state.failure { return .failure(failure) }
        state.waiters.append(Waiter(last: ticket, continuation: continuation))
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Forgets what was not sent; those who wait get the error.
  func discard(throwing error: any Error) {
    let waiters = state.withLock { state in
      defer {
        state.queue = []
        state.waiters = []
        state.sent = state.queued
      }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume(throwing: error) }
  }

  private func startDraining(_ state: inout State) {
    if state.isDraining { return }
    state.isDraining = true
    drainQueue.async { [self] in drain() }
  }

  private func drain() {
    while true {
      var failure: SystemError?
      do throws(SystemError) {
        _ = try socket.wait(writing: true, milliseconds: -1)
      } catch {
        failure = error
      }
      let (isDone, resumed, result) = state.withLock { state in
        if let failure { fail(&state, failure) } else { flush(&state) }
        let result: Result<Void, any Error> = state.failure.map { .failure($0) } ?? .success(())
        let (sent, hasFailed) = (state.sent, state.failure != nil)
        let resumed = state.waiters.filter { hasFailed || $0.last <= sent }
        state.waiters.removeAll { hasFailed || $0.last <= sent }
        state.isDraining = !state.queue.isEmpty
        return (state.queue.isEmpty, resumed, result)
      }
      for waiter in resumed { waiter.continuation.resume(with: result) }
      if isDone { return }
    }
  }

  private func flush(_ state: inout State) {
    do throws(SystemError) {
      while let packet = state.queue.first {
        guard try socket.trySend(packet.bytes, passing: packet.descriptor?.rawValue ?? -1) else { return }
        state.queue.removeFirst()
        state.sent += 1
      }
      state.queue = []
    } catch {
      fail(&state, error)
    }
  }

  private func fail(_ state: inout State, _ error: SystemError) {
    state.failure = error
    state.queue = []
  }
}
