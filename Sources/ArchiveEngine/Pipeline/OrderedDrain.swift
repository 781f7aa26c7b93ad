internal import ArchiveIO
internal import Dispatch

/// Brings results back into the order of their sequence numbers and hands them to one consumer on one thread.
///
/// A number may have several results; they are consumed in the order in which they came, and the next number's turn comes after its last.
final class OrderedDrain<Result: Sendable>: Sendable {
  private struct Arrival {
    var result: Result
    var isLast: Bool
  }
  private struct State {
    var waiting: [Int: [Arrival]] = [:]
    var next = 0
    var end: Int?
  }

  private let state = Locked(State())
  private let arrived = DispatchSemaphore(value: 0)
  private let group = DispatchGroup()

  /// Starts the consumer, which is called in order, never twice at once.
  init(label: String, consume: @escaping @Sendable (Result) -> Void) {
    DispatchQueue(label: "\(label).drain").async(group: group) { [self] in
      while true {
        arrived.wait()
        while let arrival = take() { consume(arrival.result) }
        if state.withLock({ $0.next >= $0.end ?? .max }) { return }
      }
    }
  }

  private func take() -> Arrival? {
    state.withLock { state in
      guard var arrivals = state.waiting[state.next], !arrivals.isEmpty else { return nil }
      let arrival = arrivals.removeFirst()
      state.waiting[state.next] = arrivals.isEmpty ? nil : arrivals
      if arrival.isLast { state.next += 1 }
      return arrival
    }
  }

  /// Adds a result of a number. Any thread.
  func submit(_ sequence: Int, _ result: Result, isLast: Bool = true) {
    state.withLock { $0.waiting[sequence, default: []].append(Arrival(result: result, isLast: isLast)) }
    arrived.signal()
  }

  /// Says how many numbers there are and waits until all were consumed.
  func finish(count: Int) {
    state.withLock { $0.end = count }
    arrived.signal()
    group.wait()
  }
}
