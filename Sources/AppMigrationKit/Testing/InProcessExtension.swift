internal import AppMigrationHost
internal import ArchiveIO
internal import Dispatch
internal import MigrationWire
internal import Synchronization

/// A registered extension at work in this process, so that breakpoints and sanitizers reach it.
///
/// It cannot be killed: ending it cancels its task and closes its socket, so that every further call of the archiver throws.
final class InProcessExtension: ExtensionEndpoint {
  let socket: MessageSocket
  /// What the extension has thrown, as it was.
  private let thrown = Locked<(any Error)?>(nil)
  private let task = Locked<Task<Void, Never>?>(nil)
  private let end = DispatchGroup()
  private let hasEnded = Atomic<Bool>(false)

  /// Starts the extension.
  init(_ type: any AppMigrationExtension.Type) throws(MigrationError) {
    let other: MessageSocket
    do throws(SystemError) { (socket, other) = try MessageSocket.pair() } catch {
      throw MigrationError(.launch, "no socket can be made: \(error.message)")
    }
    end.enter()
    let running = Task.detached { [self] in
      do {
        try await ExtensionRun.serve(
          type, over: other, scope: .tasks, onFailure: { error in self.thrown.withLock { $0 = error } })
      } catch {
        // The system's side is gone, and with it whoever would want to know.
      }
      finish()
    }
    task.withLock { $0 = running }
  }

  /// The extension's own error.
  var error: (any Error)? { thrown.withLock { $0 } }

  var sandbox: SandboxReport { .none }

  func waitForExit() -> ExtensionProcess.Exit {
    end.wait()
    return .exited(0)
  }

  func tryExit(milliseconds: Int32) -> ExtensionProcess.Exit? {
    end.wait(timeout: .now() + .milliseconds(Int(max(0, milliseconds)))) == .success ? .exited(0) : nil
  }

  func kill() {
    task.withLock { $0 }?.cancel()
    socket.shutDown()
    finish()
  }

  func processorTime() -> Duration? { nil }

  private func finish() {
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { end.leave() }
  }
}
