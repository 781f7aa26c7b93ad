internal import ArchiveIO
internal import Dispatch
internal import Glibc
internal import MigrationWire

/// An extension's process, which the system has started for one run.
enum ExtensionMain {
  /// The variable that holds the number of the inherited socket.
  static let socketVariable = "APP_MIGRATION_SOCKET"

  /// Exit statuses, as in `sysexits.h`.
  private static let usageStatus: Int32 = 64
  private static let lossStatus: Int32 = 76

  /// Serves the run and exits: with 0 when its outcome was told to the system, be it a failure.
  static func run(_ type: any AppMigrationExtension.Type) -> Never {
    guard let text = ProcessFacts.environment(socketVariable) else {
      explain("\(type) is a migration extension: the system starts it, it is not run by hand")
    }
    guard let socket = inheritedSocket(text) else {
      explain(
        "$\(socketVariable) is \"\(String(decoding: text, as: UTF8.self))\", which is no socket of a migration system")
    }
    unsafe unsetenv(socketVariable)
    Task.detached {
      // Without the system the run has no meaning, and what it does may be in the way of the next one.
      do {
        try await ExtensionRun.serve(type, over: socket, scope: .process, onLoss: { _exit(lossStatus) })
      } catch {
        _exit(lossStatus)
      }
      exit(0)
    }
    // The main actor's code runs on the main thread, as in an app. (`dispatchMain()` would move it to other threads.)
    while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
  }

  /// Says what the program is, and exits.
  static func explain(_ reason: String) -> Never {
    let name = URL(fileURLWithPath: CommandLine.arguments.first ?? "EXECUTABLE").lastPathComponent
    let text = """
      \(name): \(reason).
      To run it:
        appmigrate export --extension \(name) --output ARCHIVE
        appmigrate import --extension \(name) ARCHIVE
        appmigrate check --extension \(name)     (what would stop a migration)

      """
    FileHandle.standardError.write(Data(text.utf8))
    exit(usageStatus)
  }

  /// The inherited socket, not passed on to programs that the extension starts.
  private static func inheritedSocket(_ text: [UInt8]) -> MessageSocket? {
    guard let number = Int32(String(decoding: text, as: UTF8.self)), number > 2 else { return nil }
    var kind: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) == 0,
      kind == Int32(SOCK_SEQPACKET.rawValue),
      fcntl(number, F_SETFD, FD_CLOEXEC) == 0,
      fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) == 0
    else { return nil }
    return MessageSocket(SharedDescriptor(Descriptor(adopting: number)))
  }
}
