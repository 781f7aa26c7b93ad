package import ArchiveEngine
internal import ArchiveIO
internal import Glibc

/// Standard error: progress, warnings and errors, which do not get into each other's way. Any thread.
package final class Reporter: Sendable {
  /// How progress is shown.
  package enum Style: Sendable {
    case none
    /// A bar on a terminal, drawn over and over.
    case bar
    /// A line now and then, for logs.
    case lines
    /// A JSON object now and then; warnings are objects too.
    case json
  }

  private struct State {
    var progress: ProgressState?
    var label = ""
    var start = ContinuousClock.now
    var lastDraw: ContinuousClock.Instant?
    var isBarVisible = false
    var degradationCount: UInt64 = 0
  }

  private let state = Locked(State())
  /// Its name stands before every message.
  private let program: String
  private let isQuiet: Bool
  /// How progress is shown.
  package let style: Style

  /// Between two updates. Ten a second is what eyes can follow.
  private static let interval: Duration = .milliseconds(100)
  private static let lineInterval: Duration = .milliseconds(500)

  /// With `isQuiet` only errors are shown.
  package init(program: String, isQuiet: Bool = false, style: Style = .none) {
    self.program = program
    self.isQuiet = isQuiet
    self.style = style
  }

  /// Whether standard error is a terminal.
  package static var isTerminal: Bool { isatty(2) == 1 }

  /// Whether anybody sees progress, which may cost a look ahead.
  package var showsProgress: Bool { style != .none }

  /// How many things were reported that make the run less than clean.
  package var degradationCount: UInt64 { state.withLock { $0.degradationCount } }

  // MARK: Progress

  /// Shows the beginning of a run of `totalByteCount` bytes; nil when that is not known.
  package func begin(_ label: String, totalByteCount: UInt64?, unit: ProgressState.Unit = .bytes) {
    guard showsProgress else { return }
    state.withLock { state in
      state.progress = ProgressState(totalByteCount: totalByteCount, unit: unit)
      state.label = label
      state.start = .now
      draw(&state)
    }
  }

  /// Shows how far the run is, unless that was shown a moment ago.
  package func update(_ progress: ArchiveProgress) {
    update { $0.update(progress, elapsed: $1) }
  }

  /// The same for work that is counted in steps.
  package func update(completed: UInt64, of total: UInt64) {
    update { $0.update(completed: completed, of: total, elapsed: $1) }
  }

  private func update(_ change: (inout ProgressState, Duration) -> Void) {
    guard showsProgress else { return }
    state.withLock { state in
      let now = ContinuousClock.now
      guard var progress = state.progress else { return }
      change(&progress, now - state.start)
      state.progress = progress
      let interval = style == .lines ? Self.lineInterval : Self.interval
      if let last = state.lastDraw, now - last < interval { return }
      draw(&state)
    }
  }

  /// Shows that all is done: the last line says 100 %.
  package func finish() {
    guard showsProgress else { return }
    state.withLock { state in
      guard state.progress != nil else { return }
      state.progress?.finish(elapsed: .now - state.start)
      draw(&state)
      if state.isBarVisible { Self.write(Array("\n".utf8)) }
      state.isBarVisible = false
      state.progress = nil
    }
  }

  /// Takes the progress away: the run has failed.
  package func abandon() {
    state.withLock { state in
      Self.erase(&state)
      state.progress = nil
    }
  }

  private func draw(_ state: inout State) {
    guard let progress = state.progress else { return }
    state.lastDraw = .now
    switch style {
    case .none: break
    case .bar:
      // One column stays free: some terminals wrap as soon as the last one is used.
      let line = progress.line(label: state.label, width: max(10, Self.terminalWidth - 1))
      Self.write(Array("\r\(line)\u{1B}[K".utf8))
      state.isBarVisible = true
    case .lines: Self.write(Array((progress.line(label: state.label, width: 200) + "\n").utf8))
    case .json: Self.write(progress.json)
    }
  }

  private static func erase(_ state: inout State) {
    guard state.isBarVisible else { return }
    write(Array("\r\u{1B}[K".utf8))
    state.isBarVisible = false
  }

  // MARK: Messages

  /// Something was skipped or degraded, or is only worth a note.
  package func warn(_ warning: ArchiveWarning) {
    if warning.isDegradation { state.withLock { $0.degradationCount += 1 } }
    guard !isQuiet else { return }
    if style == .json {
      show(
        JSONText.line { text in
          text.field("event", warning.isDegradation ? "warning" : "note")
          if !warning.path.isEmpty { text.field("path", lossy: warning.path) }
          text.field("message", warning.message)
        })
    } else {
      show(Array("\(program): \(warning.description)\n".utf8))
    }
  }

  /// A line that only people want to see.
  package func note(_ text: String) { warn(ArchiveWarning(path: [], message: text, isDegradation: false)) }

  /// A line that is shown even with `--quiet`.
  package func error(_ message: String, code: String = "failed") {
    if style == .json {
      show(
        JSONText.line { text in
          text.field("event", "error")
          text.field("code", code)
          text.field("message", message)
        })
    } else {
      show(Array("\(program): \(message)\n".utf8))
    }
  }

  /// Bytes as they are: results whose place on standard output is taken by an archive.
  package func show(_ bytes: [UInt8]) {
    state.withLock { state in
      Self.erase(&state)
      Self.write(bytes)
    }
  }

  /// Nothing can be done about a standard error that does not take it.
  private static func write(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { try? unsafe FileSystem.write(2, $0) }
  }

  private static var terminalWidth: Int {
    var size = winsize()
    guard unsafe ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
