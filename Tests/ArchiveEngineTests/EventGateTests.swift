import Dispatch
import Testing

@testable import ArchiveEngine

/// A run over a very large archive has millions of events.
@Suite struct EventGateTests {
  @Test func manyEventsTakeNoStack() {
    final class Counter: @unchecked Sendable { var count = 0 }
    let counter = Counter()
    let gate = EventGate<ReaderEvent> { _ in counter.count += 1 }
    let group = DispatchGroup()
    // Threads of Dispatch have a stack of half a megabyte.
    DispatchQueue(label: "events").async(group: group) {
      for _ in 0..<200_000 { gate.send(.warning(ArchiveWarning(path: [], message: ""))) }
    }
    group.wait()
    #expect(counter.count == 200_000)
  }
}
