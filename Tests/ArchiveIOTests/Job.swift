import Foundation

/// A thread for something that blocks, which must not hold up the tests' own.
final class Job: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func start() {
    let body = body
    Thread { body() }.start()
  }
}
