/// What one run of a program cost. Of a pipeline all programs are in it.
package struct Sample: Codable, Sendable, Equatable {
  /// The round in which it was taken, from 1.
  package var round: Int
  /// Wall time.
  package var seconds: Double
  /// CPU time in the programs.
  package var userSeconds: Double
  /// CPU time in the kernel on their behalf.
  package var systemSeconds: Double
  /// Peak of the resident memory; of a pipeline the sum of its programs' peaks.
  package var peakByteCount: UInt64
  /// System calls that read; nil where the kernel does not tell.
  package var readCallCount: UInt64?
  /// System calls that write.
  package var writeCallCount: UInt64?

  /// Makes a sample.
  package init(
    round: Int, seconds: Double, userSeconds: Double = 0, systemSeconds: Double = 0, peakByteCount: UInt64 = 0,
    readCallCount: UInt64? = nil, writeCallCount: UInt64? = nil
  ) {
    self.round = round
    self.seconds = seconds
    self.userSeconds = userSeconds
    self.systemSeconds = systemSeconds
    self.peakByteCount = peakByteCount
    self.readCallCount = readCallCount
    self.writeCallCount = writeCallCount
  }

  /// CPU time of both kinds.
  package var cpuSeconds: Double { userSeconds + systemSeconds }
}
