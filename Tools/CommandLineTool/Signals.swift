package import ArchiveIO
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a cancellation. A second one ends the process at once.
package enum Signals {
  private static let received = Atomic<Int32>(0)

  /// The status with which a cancelled run ends.
  package static var exitStatus: ExitStatus {
    switch received.load(ordering: .acquiring) {
    case SIGINT: .interrupted
    case 0: .failed
    default: .terminated
    }
  }

  /// Call before any other thread exists: threads inherit that the signals are blocked.
  ///
  /// SIGPIPE and SIGXFSZ are ignored, so that writes fail with an error that can be handled.
  package static func install(cancelling token: CancellationToken) {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGTERM)
    // Under nohup the hang-up is ignored, and stays so.
    if !isIgnored(SIGHUP) { unsafe sigaddset(&signals, SIGHUP) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let awaited = signals
    DispatchQueue(label: "signals").async { wait(for: awaited, cancelling: token) }
  }

  /// Fills standard descriptors that the caller has closed with /dev/null: else the next file to be opened would become
  /// standard output, and results would be written into it.
  ///
  /// - Returns: whether standard output was open.
  package static func reserveStandardDescriptors() -> Bool {
    var outputIsOpen = true
    for number in Int32(0)...2 where fcntl(number, F_GETFD) < 0 {
      if number == 1 { outputIsOpen = false }
      _ = unsafe open("/dev/null", O_RDWR)
    }
    return outputIsOpen
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN is a "function" at address 1.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  private static func wait(for signals: sigset_t, cancelling token: CancellationToken) {
    var signals = signals
    while true {
      var number: Int32 = 0
      guard unsafe sigwait(&signals, &number) == 0 else { return }
      if received.exchange(number, ordering: .acquiringAndReleasing) != 0 { _exit(128 + number) }
      token.cancel()
    }
  }
}
