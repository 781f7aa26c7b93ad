internal import Dispatch

/// Lets a few in at a time. Those who wait are suspended, and those who are in have threads of their own: tests that wait for programs do not
/// hold up others, and time limits inside the scripts are not those of a crowd.
actor Turnstile {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  /// Runs a body that blocks.
  func pass<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    defer { leave() }
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Whoever waits longest takes the place.
  private func leave() { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
}
