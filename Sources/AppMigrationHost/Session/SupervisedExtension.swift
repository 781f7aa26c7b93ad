internal import ArchiveIO
internal import Dispatch
internal import MigrationWire
internal import Synchronization

/// One extension at work: its process, the conversation with it, and the watch over both.
///
/// One thread converses. The watch, on a thread of its own, ends the process when it hangs or does not heed a cancel; the conversation then finds
/// the socket closed and throws what the watch has decided.
final class SupervisedExtension: Sendable {
  /// What counts as activity besides the messages of the conversation.
  struct Probe: Sendable {
    /// Cheap, asked often: whether something is going on that is not the extension's fault, or is its work.
    var isActive: @Sendable () -> Bool = { false }
    /// Asked when the time is over, before the verdict: whether the extension works all the same.
    var isWorking: @Sendable (any ExtensionEndpoint) -> Bool = { _ in false }
  }

  private static let tick = DispatchTimeInterval.milliseconds(50)
  /// For a process that has said that it is done.
  private static let exitGraceMilliseconds: Int32 = 2000

  let process: any ExtensionEndpoint
  /// Cancels the engine's work for this run, when the caller cancels or the watch gives a verdict.
  let engineToken = CancellationToken()
  private let timeouts: MigrationTimeouts
  private let cancellation: CancellationToken
  /// Tells the engine of the caller's cancel when the watch has ended and only the archive is left to be finished.
  private let cancelsEngine = Locked<CancellationToken.Registration?>(nil)
  private let probe: Probe
  private let verdict = Locked<MigrationError?>(nil)
  private let lastActivity = Atomic<Int64>(0)
  private let start = ContinuousClock.now
  private let end = DispatchSemaphore(value: 0)
  private let watchEnded = DispatchSemaphore(value: 0)

  /// Watches a process that is about to start.
  init(
    _ process: any ExtensionEndpoint, timeouts: MigrationTimeouts, cancellation: CancellationToken, probe: Probe
  ) {
    self.process = process
    self.timeouts = timeouts
    self.cancellation = cancellation
    self.probe = probe
    DispatchQueue(label: "migration-watch").async { [self] in
      var watch = Watch()
      while end.wait(timeout: .now() + Self.tick) == .timedOut { look(&watch) }
      watchEnded.signal()
    }
  }

  // MARK: Conversation

  /// Sends a message.
  func send(_ message: SystemMessage) throws(MigrationError) {
    let bytes = message.encoded()
    guard bytes.count <= MessageSocket.maximumByteCount else {
      throw MigrationError(.invalidArgument, "options of \(bytes.count) bytes are too many for an extension")
    }
    do throws(SystemError) { try process.socket.send(bytes, wake: engineToken.waitDescriptor) } catch {
      throw failure ?? ended()
    }
  }

  /// The extension's next message.
  func receive() throws(MigrationError) -> (message: ExtensionMessage, descriptor: SharedDescriptor?) {
    while true {
      let packet: MessageSocket.Packet?
      do throws(SystemError) { packet = try process.socket.tryReceive() } catch { throw violation(error.message) }
      guard let packet else {
        _ = try? process.socket.wait(milliseconds: 1000)
        continue
      }
      if packet.bytes.isEmpty { throw ended() }
      touch()
      do throws(WireError) {
        return (try ExtensionMessage(decoding: packet.bytes), packet.descriptor)
      } catch { throw violation(error.description) }
    }
  }

  /// Something happened.
  func touch() { lastActivity.store(milliseconds(ContinuousClock.now - start), ordering: .relaxed) }

  /// The extension sent what none may send.
  func violation(_ what: String) -> MigrationError {
    if let failure { return failure }
    process.kill()
    return MigrationError(.protocolViolation, "the extension does not keep to the protocol: \(what); it was ended")
  }

  /// What the watch has decided.
  var failure: MigrationError? { verdict.withLock { $0 } }

  /// Waits for the exit of an extension that said that it is done, and for that of all that it started.
  func finish() throws(MigrationError) {
    let exit = process.tryExit(milliseconds: Self.exitGraceMilliseconds)
    close()
    if let failure { throw failure }
    guard let exit else {
      throw MigrationError(.crashed, "the extension said that it was done but did not exit; it was ended")
    }
    if exit != .exited(0) { throw Self.crash(exit, "after it said that it was done") }
    let registration = cancellation.onCancel { [engineToken] in engineToken.cancel() }
    cancelsEngine.withLock { $0 = registration }
  }

  /// Ends the extension, whatever it does, and the watch. Does nothing the second time.
  func close() {
    process.kill()
    _ = process.waitForExit()
    end.signal()
    watchEnded.wait()
    watchEnded.signal()
  }

  /// The other side of the socket is gone.
  private func ended() -> MigrationError {
    let exit = process.tryExit(milliseconds: 1000)
    if let failure { return failure }
    guard let exit else {
      process.kill()
      return MigrationError(.protocolViolation, "the extension closed its socket before it was done; it was ended")
    }
    return Self.crash(exit, "before it was done")
  }

  private static func crash(_ exit: ExtensionProcess.Exit, _ when: String) -> MigrationError {
    switch exit {
    case .exited(let code): MigrationError(.crashed, "the extension exited with status \(code) \(when)")
    case .signalled(let number):
      MigrationError(.crashed, "the extension was ended by \(SignalName.of(number)) \(when)")
    }
  }

  // MARK: Watch

  private struct Watch {
    var cancelTime: ContinuousClock.Instant?
  }

  private func look(_ watch: inout Watch) {
    let now = ContinuousClock.now
    if probe.isActive() { touch() }
    // A grandchild may hold the socket of an extension that is gone.
    if process.tryExit(milliseconds: 0) != nil { process.kill() }
    if cancellation.isCancelled {
      if let time = watch.cancelTime {
        if now - time > timeouts.cancelGrace {
          decide(
            MigrationError(
              .cancelled, "cancelled; the extension went on for \(timeouts.cancelGrace) after that and was ended"))
        }
      } else {
        watch.cancelTime = now
        engineToken.cancel()
        _ = try? process.socket.trySend(SystemMessage.cancel.encoded())
      }
      return
    }
    guard let limit = timeouts.hang else { return }
    let idle = milliseconds(now - start) - lastActivity.load(ordering: .relaxed)
    guard idle > milliseconds(limit) else { return }
    if probe.isWorking(process) { return touch() }
    decide(
      MigrationError(
        .hang,
        "the extension did nothing for \(limit) and was ended; --hang-timeout changes how long it may"))
  }

  private func decide(_ error: MigrationError) {
    verdict.withLock { if $0 == nil { $0 = error } }
    engineToken.cancel()
    process.kill()
  }

  private func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}

/// Names of signals, as people know them.
enum SignalName {
  private static let names: [Int32: String] = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
    31: "SIGSYS",
  ]

  static func of(_ number: Int32) -> String { names[number].map { "\($0) (signal \(number))" } ?? "signal \(number)" }
}
