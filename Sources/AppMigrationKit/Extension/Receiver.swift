internal import ArchiveIO
internal import Dispatch
internal import Glibc
internal import MigrationWire

/// The thread that receives the system's messages.
///
/// The first two steps (`begin`, `proceed`) are handed out one by one; replies and the cancel go to the connection at once, so that they
/// are seen however busy the extension is.
final class Receiver: Sendable {
  private enum Step {
    case begin(MigrationTask)
    case proceed
  }

  private struct State {
    var steps: ArraySlice<Step> = []
    var waiting: CheckedContinuation<Step, any Error>?
    var end: (any Error)?
    var onCancel: (@Sendable () -> Void)?
    var isCancelled = false
  }

  private let socket: MessageSocket
  private let connection: Connection
  private let stopToken = CancellationToken()
  private let state = Locked(State())
  private let onLoss: @Sendable () -> Void

  /// - Parameter onLoss: called on the receiving thread when the system is gone or sends what is not understood.
  init(_ socket: MessageSocket, _ connection: Connection, onLoss: @escaping @Sendable () -> Void) {
    self.socket = socket
    self.connection = connection
    self.onLoss = onLoss
    Thread.detachNewThread { [self] in run() }
  }

  /// Ends the thread.
  func stop() { stopToken.cancel() }

  /// Calls `handler` when the system cancels; at once when it already has.
  func onCancel(_ handler: @escaping @Sendable () -> Void) {
    let isCancelled = state.withLock { state in
      state.onCancel = handler
      return state.isCancelled
    }
    if isCancelled { handler() }
  }

  /// What the extension was started for.
  func begin() async throws -> MigrationTask {
    guard case .begin(let task) = try await nextStep() else { throw SystemError("recvmsg", errno: EPROTO) }
    return task
  }

  /// Returns when the work may begin.
  func proceed() async throws {
    guard case .proceed = try await nextStep() else { throw SystemError("recvmsg", errno: EPROTO) }
  }

  private func nextStep() async throws -> Step {
    try await withCheckedThrowingContinuation { continuation in
      let known: Result<Step, any Error>? = state.withLock { state in
        if let step = state.steps.popFirst() { return .success(step) }
        if let end = state.end { return .failure(end) }
        state.waiting = continuation
        return nil
      }
      if let known { continuation.resume(with: known) }
    }
  }

  private func run() {
    do {
      while let packet = try nextPacket() {
        switch try SystemMessage(decoding: packet.bytes) {
        case .begin(let task): deliver(.begin(task))
        case .proceed: deliver(.proceed)
        case .reply(let number, let reply): connection.receive(number: number, reply)
        case .cancel: cancel()
        }
      }
    } catch {
      let reason = error as? SystemError ?? SystemError("recvmsg", errno: EPROTO)
      connection.fail(reason)
      end(reason)
      onLoss()
    }
  }

  /// nil when the thread is to end.
  private func nextPacket() throws -> MessageSocket.Packet? {
    while true {
      if stopToken.isCancelled { return nil }
      if let packet = try socket.tryReceive() {
        if packet.bytes.isEmpty { throw SystemError("recvmsg", errno: ECONNRESET) }
        return packet
      }
      _ = try socket.wait(milliseconds: -1, wake: stopToken.waitDescriptor)
    }
  }

  private func cancel() {
    connection.cancel()
    let handler = state.withLock { state in
      state.isCancelled = true
      return state.onCancel
    }
    handler?()
    end(CancellationError())
  }

  private func deliver(_ step: Step) {
    let waiting = state.withLock { state in
      let waiting = state.waiting
      state.waiting = nil
      if waiting == nil { state.steps.append(step) }
      return waiting
    }
    waiting?.resume(returning: step)
  }

  private func end(_ error: any Error) {
    let waiting = state.withLock { state in
      let waiting = state.waiting
      state.waiting = nil
      state.end = error
      return waiting
    }
    waiting?.resume(throwing: error)
  }
}
