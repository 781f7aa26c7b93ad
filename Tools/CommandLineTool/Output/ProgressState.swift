package import ArchiveEngine

/// How far a run is, for display: never backwards, and the whole only at the end. Pure arithmetic.
package struct ProgressState: Sendable {
  /// What is counted.
  package enum Unit: Sendable {
    case bytes
    /// Whatever a program counts its work in.
    case steps
  }

  private let unit: Unit
  /// What is to be done, when known.
  package private(set) var totalByteCount: UInt64?
  package private(set) var byteCount: UInt64 = 0
  package private(set) var memberCount: UInt64 = 0
  package private(set) var elapsed: Duration = .zero
  package private(set) var isFinished = false

  /// Nothing done yet.
  package init(totalByteCount: UInt64?, unit: Unit = .bytes) {
    self.totalByteCount = totalByteCount
    self.unit = unit
  }

  /// Takes what a program says of its work, whose total may become known late.
  package mutating func update(completed: UInt64, of total: UInt64, elapsed: Duration) {
    // More may have been done before there was a total: the total is never less than what is done.
    totalByteCount = total > 0 ? max(total, totalByteCount ?? 0, byteCount) : totalByteCount
    update(ArchiveProgress(contentByteCount: completed), elapsed: elapsed)
  }

  /// Takes what the engine reports. Files that grow meanwhile do not lead beyond the total.
  package mutating func update(_ progress: ArchiveProgress, elapsed: Duration) {
    byteCount = max(byteCount, min(progress.contentByteCount, totalByteCount ?? .max))
    memberCount = max(memberCount, progress.memberCount)
    self.elapsed = max(self.elapsed, elapsed)
  }

  /// All is done, whatever was expected.
  package mutating func finish(elapsed: Duration) {
    byteCount = totalByteCount ?? byteCount
    totalByteCount = byteCount
    self.elapsed = max(self.elapsed, elapsed)
    isFinished = true
  }

  /// 0...99 while it runs, 100 at the end; nil without a total.
  package var percent: Int? {
    if isFinished { return 100 }
    guard let totalByteCount else { return nil }
    guard totalByteCount > 0 else { return 0 }
    let (high, low) = byteCount.multipliedFullWidth(by: 100)
    // Safe: byteCount is at most the total, hence the quotient at most 100 and the high word less than the total.
    return min(99, Int(totalByteCount.dividingFullWidth((high, low)).quotient))
  }

  /// Average since the begin.
  package var bytesPerSecond: UInt64 {
    let seconds = elapsed / .seconds(1)
    return seconds > 0.001 ? UInt64(min(Double(byteCount) / seconds, 1e18)) : 0
  }

  /// Nil when it cannot be told yet.
  package var secondsRemaining: UInt64? {
    if isFinished { return 0 }
    guard let totalByteCount, bytesPerSecond > 0 else { return nil }
    return (totalByteCount - byteCount) / bytesPerSecond
  }

  // MARK: Display

  /// One line of at most `width` columns: details are dropped, then the bar, before anything is cut.
  package func line(label: String, width: Int) -> String {
    let share = percent.map { String(repeating: " ", count: $0 < 10 ? 2 : $0 < 100 ? 1 : 0) + "\($0) %" }
    var amount = text(byteCount)
    if let totalByteCount { amount += " of " + text(totalByteCount) }
    var details = [amount]
    if unit == .bytes {
      details += [SizeText.decimal(bytesPerSecond) + "/s", SizeText.grouped(memberCount) + " files"]
    }
    if isFinished {
      details.append(TimeText.seconds(elapsed))
    } else if let secondsRemaining {
      details.append("ETA " + TimeText.duration(seconds: secondsRemaining))
    }
    let head = ([label] + (share.map { [$0] } ?? [])).joined(separator: " ")
    while details.count > 1, head.count + details.reduce(0, { $0 + $1.count + 2 }) > width {
      // The rate goes first, then the files; the time that is left is worth most.
      details.remove(at: details.count > 2 ? details.count - 2 : 1)
    }
    let tail = details.map { "  " + $0 }.joined()
    let room = min(30, width - head.count - tail.count - 3)
    var bar = ""
    if let percent, room >= 8 {
      let filled = room * percent / 100
      bar = " [" + String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled) + "]"
    }
    return String((head + bar + tail).prefix(width))
  }

  private func text(_ amount: UInt64) -> String {
    unit == .bytes ? SizeText.decimal(amount) : SizeText.grouped(amount)
  }

  /// One JSON object.
  package var json: [UInt8] {
    JSONText.line { text in
      text.field("event", "progress")
      text.field("bytes", byteCount)
      text.field("totalBytes", totalByteCount)
      text.field("percent", percent)
      text.field("files", memberCount)
      text.field("bytesPerSecond", bytesPerSecond)
      text.field("secondsRemaining", secondsRemaining)
      text.field("seconds", seconds: elapsed)
    }
  }
}
