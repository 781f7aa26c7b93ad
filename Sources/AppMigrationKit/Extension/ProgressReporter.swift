internal import ArchiveIO
internal import Dispatch
internal import MigrationWire

/// Reads the progress of an import ten times a second and reports what has changed.
///
/// It has a queue of its own: an import that occupies all threads of Swift's pool is watched too.
final class ProgressReporter: Sendable {
  private struct State {
    var last: (completed: Int64, total: Int64)?
    var isStopped = false
  }

  private let importer: any ResourcesImporting
  private let connection: Connection
  private let context = ExtensionContext.bound
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "AppMigrationKit.Progress")

  init(_ importer: any ResourcesImporting, _ connection: Connection) {
    self.importer = importer
    self.connection = connection
    tick()
  }

  /// Reports for the last time; nothing is read after the call returns.
  func stop() {
    report()
    state.withLock { $0.isStopped = true }
  }

  private func tick() {
    queue.asyncAfter(deadline: .now() + .milliseconds(100)) { [weak self] in
      guard let self else { return }
      report()
      if !state.withLock({ $0.isStopped }) { tick() }
    }
  }

  private func report() {
    state.withLock { state in
      if state.isStopped { return }
      let progress = ExtensionContext.$bound.withValue(context) { importer.resourcesImportProgress }
      let now = (completed: progress.completedUnitCount, total: progress.totalUnitCount)
      if let last = state.last, last == now { return }
      if connection.sendIfIdle(.progress(completed: now.completed, total: now.total)) { state.last = now }
    }
  }
}
