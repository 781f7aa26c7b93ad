internal import ArchiveIO

/// Judges whether an extension that reports no progress is at work: files change in the container, or at least processor time passes.
final class ImportProbe: Sendable {
  private struct State {
    var lastSign = ContinuousClock.now
    var processorTime = Duration.zero
    var fingerprint: UInt64?
  }

  /// Processor time alone is believed for so many times the timeout: a loop that never ends uses it too.
  private static let patience = 10

  private let containerPath: [UInt8]
  private let limit: Duration?
  private let state = Locked(State())

  init(_ containerPath: [UInt8], _ limit: Duration?) {
    self.containerPath = containerPath
    self.limit = limit
  }

  /// The extension goes to work.
  func begin() {
    let fingerprint = limit == nil ? nil : ContainerFingerprint.of(containerPath)
    state.withLock { $0 = State(fingerprint: fingerprint) }
  }

  /// Its progress has changed.
  func noteProgress() { state.withLock { $0.lastSign = ContinuousClock.now } }

  /// Asked each time that the timeout has passed without a message.
  func isWorking(_ process: any ExtensionEndpoint) -> Bool {
    guard let limit else { return true }
    let fingerprint = ContainerFingerprint.of(containerPath)
    let processorTime = process.processorTime() ?? .zero
    return state.withLock { state in
      if fingerprint != state.fingerprint {
        state.fingerprint = fingerprint
        state.lastSign = ContinuousClock.now
        state.processorTime = processorTime
        return true
      }
      // A tenth of the time is more than a process that sleeps and polls uses.
      let isBusy = processorTime - state.processorTime > limit / 10
      state.processorTime = processorTime
      return isBusy && ContinuousClock.now - state.lastSign < limit * Self.patience
    }
  }
}

/// One number for names, sizes and times of all files in a container: it changes when they do.
enum ContainerFingerprint {
  static func of(_ path: [UInt8]) -> UInt64 {
    guard
      let root = try? FileSystem.open(at: FileSystem.currentDirectory, path, [.readOnly, .directory, .noFollow]),
      let walker = try? DirectoryWalker(root: SharedDescriptor(root))
    else { return 0 }
    var hasher = Hasher()
    while let step = walker.next() {
      guard case .entry(let entry) = step else { continue }
      hasher.combine(entry.status.inode)
      hasher.combine(entry.status.byteCount)
      hasher.combine(entry.status.modificationSeconds)
      hasher.combine(entry.status.modificationNanoseconds)
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
