internal import ArchiveIO
internal import MigrationWire

/// The extension's end of the socket: sends items and reports, and knows what the system has answered.
///
/// A thread of its own gives it the system's messages (``receive(number:_:)``); everything else may be called from any task.
///
/// The last item that travels by value is held back until another one follows. When the export ends it is sent as one that wants a
/// reply: since the system answers in order, with that reply all failures of those before have come in.
final class Connection: ItemSink {
  /// How many paths of items by value are remembered for refusals that come late; more never lie between the two ends.
  static let rememberedPathCount = 8192

  private enum Reply {
    case pending
    case waiting(CheckedContinuation<ItemReply, any Error>)
    case arrived(ItemReply)
  }

  private struct State {
    var lastNumber: UInt64 = 0
    var held: ItemMessage?
    var replies: [UInt64: Reply] = [:]
    var paths: [UInt64: [UInt8]] = [:]
    var refusals: ArraySlice<LateRefusal> = []
    var isCancelled = false
    var hasEnded = false
    var failure: SystemError?
  }

  private let outbox: Outbox
  private let state = Locked(State())

  init(_ socket: MessageSocket) { outbox = Outbox(socket) }

  // MARK: Items

  func append(_ item: OutgoingItem) async throws {
    let (number, ticket) = try state.withLock { state in try post(item, &state) }
    if let ticket { try await outbox.wait(for: ticket) }
    if let number { try await awaitReply(number, path: item.path) }
  }

  /// Numbers are given and messages posted in one step: their order in the socket is that of the numbers.
  private func post(_ item: OutgoingItem, _ state: inout State) throws -> (waitsFor: UInt64?, ticket: UInt64?) {
    try checkIsOpen(state)
    if let refusal = state.refusals.popFirst() { throw refusal }
    state.lastNumber += 1
    let number = state.lastNumber
    var message = ItemMessage(
      number: number, wantsReply: false, path: item.path, content: .descriptor, mode: item.mode,
      modificationSeconds: item.modificationSeconds, modificationNanoseconds: item.modificationNanoseconds)
    var packets: [Outbox.Packet] = []
    if let held = state.held { packets.append(Outbox.Packet(bytes: ExtensionMessage.item(held).encoded())) }
    state.held = nil
    switch item.content {
    case .file(let bytes): message.content = .file(bytes)
    case .symlink(let target): message.content = .symlink(target)
    case .descriptor(let descriptor):
      message.wantsReply = true
      state.replies[number] = .pending
      packets.append(Outbox.Packet(bytes: ExtensionMessage.item(message).encoded(), descriptor: descriptor))
      return (number, try outbox.post(packets))
    }
    state.held = message
    state.paths[number] = item.path
    if number > UInt64(Self.rememberedPathCount) { state.paths[number - UInt64(Self.rememberedPathCount)] = nil }
    return (nil, packets.isEmpty ? nil : try outbox.post(packets))
  }

  private func checkIsOpen(_ state: State) throws {
    if state.isCancelled { throw CancellationError() }
    if let failure = state.failure { throw failure }
    if state.hasEnded {
      throw ResourcesArchiverError("the export has ended; the archiver takes no more items", path: "")
    }
  }

  private func awaitReply(_ number: UInt64, path: [UInt8]) async throws {
    let reply = try await withCheckedThrowingContinuation { continuation in
      let known: Result<ItemReply, any Error>? = state.withLock { state in
        if case .arrived(let reply)? = state.replies.removeValue(forKey: number) { return .success(reply) }
        if state.isCancelled { return .failure(CancellationError()) }
        if let failure = state.failure { return .failure(failure) }
        state.replies[number] = .waiting(continuation)
        return nil
      }
      if let known { continuation.resume(with: known) }
    }
    switch reply {
    case .accepted: return
    case .refused(let message):
      throw ResourcesArchiverError(message, path: String(decoding: path, as: UTF8.self))
    case .cancelled: throw CancellationError()
    }
  }

  /// Sends what is held back, and returns when the system has answered everything. Later items are refused.
  ///
  /// - Throws: the first failure that the extension has not seen.
  func endItems() async throws {
    let (last, ticket) = try state.withLock { state -> (ItemMessage?, UInt64?) in
      if state.isCancelled { throw CancellationError() }
      state.hasEnded = true
      guard var last = state.held else { return (nil, nil) }
      state.held = nil
      state.paths[last.number] = nil
      last.wantsReply = true
      state.replies[last.number] = .pending
      return (last, try outbox.post([Outbox.Packet(bytes: ExtensionMessage.item(last).encoded())]))
    }
    if let ticket { try await outbox.wait(for: ticket) }
    var failure: (any Error)?
    if let last {
      do { try await awaitReply(last.number, path: last.path) } catch { failure = error }
    }
    if let refusal = state.withLock({ $0.refusals.first }) { throw refusal.error }
    if let failure { throw failure }
  }

  // MARK: Reports

  /// Sends a message that is not an item.
  func send(_ message: ExtensionMessage) async throws {
    if let ticket = try outbox.post([Outbox.Packet(bytes: message.encoded())]) { try await outbox.wait(for: ticket) }
  }

  /// Sends a message if nothing else waits; from any thread, without waiting.
  ///
  /// - Returns: false when it was not sent.
  func sendIfIdle(_ message: ExtensionMessage) -> Bool {
    guard outbox.isEmpty else { return false }
    do {
      _ = try outbox.post([Outbox.Packet(bytes: message.encoded())])
      return true
    } catch {
      return false
    }
  }

  // MARK: The system's messages

  /// Whether the system has cancelled.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// What became of an item.
  func receive(number: UInt64, _ reply: ItemReply) {
    let continuation = state.withLock { state -> CheckedContinuation<ItemReply, any Error>? in
      switch state.replies[number] {
      case .waiting(let continuation)?:
        state.replies[number] = nil
        return continuation
      case .pending?: state.replies[number] = .arrived(reply)
      case .arrived?: break
      case nil: receiveLate(number, reply, &state)
      }
      return nil
    }
    continuation?.resume(returning: reply)
  }

  private func receiveLate(_ number: UInt64, _ reply: ItemReply, _ state: inout State) {
    switch reply {
    case .accepted: break
    case .refused(let message):
      let path = state.paths.removeValue(forKey: number)
      let text = path.map { String(decoding: $0, as: UTF8.self) } ?? ""
      state.refusals.append(LateRefusal(path: path, error: ResourcesArchiverError(message, path: text)))
    case .cancelled: state.isCancelled = true
    }
  }

  /// From now on all calls throw `CancellationError`, also those that wait for a reply.
  func cancel() { stop(throwing: CancellationError()) { $0.isCancelled = true } }

  /// The system is gone, or what it sends is not understood.
  func fail(_ error: SystemError) { stop(throwing: error) { $0.failure = error } }

  private func stop(throwing error: any Error, _ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      let waiting = state.replies.values
      state.replies = [:]
      state.held = nil
      return waiting
    }
    outbox.discard(throwing: error)
    for case .waiting(let continuation) in waiting { continuation.resume(throwing: error) }
  }
}
