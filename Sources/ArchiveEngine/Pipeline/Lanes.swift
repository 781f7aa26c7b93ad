internal import Dispatch

/// The worker threads of a run: one serial Dispatch queue each, which is exactly one thread each. A concurrent queue would choose its
/// own width and start more threads once a second when jobs block.
final class Lanes: Sendable {
  private let group = DispatchGroup()

  /// Starts `count` lanes; each runs `body` once with its number and is done when that returns.
  init(count: Int, label: String, body: @escaping @Sendable (Int) -> Void) {
    for lane in 0..<count {
      DispatchQueue(label: "\(label).lane\(lane)").async(group: group) { body(lane) }
    }
  }

  /// Waits until every lane is done.
  func join() { group.wait() }
}
