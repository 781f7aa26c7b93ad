internal import ArchiveIO

/// Members that lanes left out after the control thread had counted them. Any thread.
final class LateSkips: Sendable {
  private let entries = Locked<(silent: UInt64, noted: [(path: [UInt8], message: String)], more: UInt64)>((0, [], 0))
  /// Lines beyond this are summed up.
  private static let maximumNotedCount = 10_000

  /// Counts a member; an empty message is not reported (it was left out because the user asked for that).
  func add(_ path: [UInt8], _ message: String) {
    entries.withLock { entries in
      if message.isEmpty {
        entries.silent += 1
      } else if entries.noted.count < Self.maximumNotedCount {
        entries.noted.append((path, message))
      } else {
        entries.more += 1
      }
    }
  }

  var count: UInt64 { entries.withLock { $0.silent + UInt64($0.noted.count) + $0.more } }

  /// Reports, sorted by path since lanes come in any order.
  func report(_ warn: ([UInt8], String) -> Void) {
    let (_, noted, more) = entries.withLock { $0 }
    for (path, message) in noted.sorted(by: { $0.path.lexicographicallyPrecedes($1.path) }) { warn(path, message) }
    if more > 0 { warn([], "\(more) more members were left out") }
  }
}
