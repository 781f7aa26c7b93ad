internal import ArchiveIO

/// What happens between the fork and the first instruction of an extension.
final class LaunchGate: Sendable {
  private let willExecute: @Sendable (Int32, UInt64) throws(MigrationError) -> Void
  private let refused = Locked<MigrationError?>(nil)

  init(_ willExecute: @escaping @Sendable (Int32, UInt64) throws(MigrationError) -> Void) {
    self.willExecute = willExecute
  }

  /// Why the process was not to go on.
  var refusal: MigrationError? { refused.withLock { $0 } }

  /// Called by the launcher with a gate.
  static let pass: @convention(c) (UnsafeRawPointer?, Int32) -> Int32 = { context, process in
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<LaunchGate>.fromOpaque(context).takeUnretainedValue().pass(process)
  }

  private func pass(_ process: Int32) -> Int32 {
    do throws(MigrationError) {
      try willExecute(process, ProcessFiles.directory(of: process).flatMap(ProcessFiles.status)?.startTime ?? 0)
      return 0
    } catch {
      refused.withLock { $0 = error }
      return 1
    }
  }
}
