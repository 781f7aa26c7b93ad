internal import ArchiveIO
internal import CMigrationShims
internal import Foundation
package import MigrationWire

/// An extension that is running in its sandbox.
///
/// Any thread may use it. When the object goes, the extension is killed.
package final class ExtensionProcess: Sendable {
  /// How a process ended.
  package enum Exit: Sendable, Equatable {
    /// By itself, with a status.
    case exited(Int32)
    /// By a signal.
    case signalled(Int32)
  }

  /// The socket to it.
  package let socket: MessageSocket
  /// Its number, which is also that of its process group.
  package let processID: Int32
  /// When it was started, in ticks since the machine was: with the number it names a process for good.
  package let startTime: UInt64
  /// What is enforced.
  package let sandbox: SandboxReport
  private let life: ProcessLife

  /// Starts an extension.
  package init(_ launch: ExtensionLaunch) throws(MigrationError) {
    sandbox = SandboxReport.current()
    if launch.requiresSandbox, !sandbox.isComplete {
      throw MigrationError(
        .sandbox, "this system cannot enforce the sandbox as required: " + sandbox.problems.joined(separator: "; "))
    }
    let preparation = try LaunchPreparation(launch, sandbox)
    socket = preparation.socket
    life = ProcessLife()
    do throws(MigrationError) { processID = try life.start(preparation) } catch {
      preparation.privateDirectory.remove()
      throw error
    }
    startTime = life.startTime
  }

  deinit { life.killGroup() }

  /// Waits until it has ended, and with it all processes that it has started.
  package func waitForExit() -> Exit { life.wait() }

  /// The same for at most some milliseconds; nil when it is still running.
  package func tryExit(milliseconds: Int32) -> Exit? { life.wait(milliseconds: milliseconds) }

  /// Kills it and all processes that it has started, and waits until they are gone.
  package func kill() {
    life.killGroup()
    _ = life.wait()
  }

  /// The processor time that it has taken with all its threads; nil after its end.
  package func processorTime() -> Duration? {
    guard let ticks = life.directory.flatMap(ProcessFiles.status)?.ticks else { return nil }
    return .seconds(1) * Double(ticks) / Double(max(amk_clock_ticks(), 1))
  }
}
