internal import ArchiveIO
internal import CMigrationShims
internal import Foundation

/// A process from its start to its end.
///
/// It has a thread of its own: the kernel ties "dies with its parent" to the thread that forked, which therefore must not end
/// before the process does.
final class ProcessLife: Sendable {
  private struct State {
    var process: Int32 = 0
    var failedStep: Int32 = 0
    var directory: SharedDescriptor?
    var startTime: UInt64 = 0
    /// Its status was taken: the number may belong to another process.
    var isReaped = false
    var exit: ExtensionProcess.Exit?
  }

  private let state = Locked(State())
  private let end = DispatchGroup()

  /// Starts the process on its thread and returns its number.
  func start(_ preparation: LaunchPreparation) throws(MigrationError) -> Int32 {
    let started = DispatchSemaphore(value: 0)
    end.enter()
    let thread = Thread { [self] in
      let (process, supervisor) = launch(preparation)
      started.signal()
      if process > 0 { attend(process, supervisor, preparation.privateDirectory) }
      end.leave()
    }
    thread.name = "extension"
    thread.start()
    started.wait()
    // The process has its own now. Only when all of the system's are closed does the other side see the end.
    preparation.closeInherited()
    let (process, step) = state.withLock { ($0.process, $0.failedStep) }
    if process > 0 { return process }
    throw preparation.failure(step: step, errno: -process)
  }

  /// The process's directory in `/proc`. Held open, its entry stays in the kernel's cache, to which the process's right to read it
  /// is tied.
  var directory: SharedDescriptor? { state.withLock { $0.directory } }

  /// When it was started, in ticks since the machine was.
  var startTime: UInt64 { state.withLock { $0.startTime } }

  /// SIGKILL to the whole group, if it has not ended.
  func killGroup() {
    state.withLock { state in
      if state.process > 0, !state.isReaped { _ = amk_group_kill(state.process) }
    }
  }

  /// Waits for the end.
  func wait() -> ExtensionProcess.Exit {
    end.wait()
    return state.withLock { $0.exit } ?? .signalled(SIGKILL)
  }

  /// Waits for the end for a time.
  func wait(milliseconds: Int32) -> ExtensionProcess.Exit? {
    guard end.wait(timeout: .now() + .milliseconds(Int(max(milliseconds, 0)))) == .success else { return nil }
    return wait()
  }

  private func launch(_ preparation: LaunchPreparation) -> (Int32, MetadataSupervisor?) {
    var step: Int32 = 0
    var listener: Int32 = -1
    let result = preparation.launch(&step, &listener)
    let supervisor = listener < 0 ? nil : supervise(result, listener, preparation.privateDirectory)
    // Now, while its status cannot have been taken: later the number may be another's.
    let directory = result > 0 ? ProcessFiles.directory(of: Int32(truncatingIfNeeded: result)) : nil
    let startTime = directory.flatMap(ProcessFiles.status)?.startTime ?? 0
    state.withLock { state in
      state.directory = directory
      state.startTime = startTime
      state.process = Int32(truncatingIfNeeded: result)
      state.failedStep = step
    }
    return (Int32(truncatingIfNeeded: result), supervisor)
  }

  private func supervise(_ process: Int64, _ listener: Int32, _ directory: PrivateDirectory) -> MetadataSupervisor? {
    let listener = Descriptor(adopting: listener)
    let handle = amk_process_open(Int32(truncatingIfNeeded: process))
    if handle < 0 { return nil }
    return MetadataSupervisor(
      listener: listener, process: SharedDescriptor(Descriptor(adopting: Int32(handle))),
      directory: directory.descriptor)
  }

  private func attend(_ process: Int32, _ supervisor: MetadataSupervisor?, _ directory: PrivateDirectory) {
    _ = amk_process_wait(process)
    // As long as its status is not taken, the number of the group is this group's. What it has started ends with it:
    // a process with a pending SIGKILL cannot fork, so that once is enough.
    _ = amk_group_kill(process)
    let status = state.withLock { state in
      state.isReaped = true
      return amk_process_reap(process)
    }
    ProcessGroup.waitUntilEmpty(process)
    // What it makes unreadable while it is removed would stay.
    supervisor?.wait()
    directory.remove()
    let exit: ExtensionProcess.Exit =
      status < 0 ? .signalled(SIGKILL) : status >= 256 ? .signalled(Int32(status - 256)) : .exited(Int32(status))
    state.withLock { $0.exit = exit }
  }
}
