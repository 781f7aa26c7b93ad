/// The frame behind the first data frame: settings and opening manifest where the reader of a pipe sees them early.
public struct Preamble: Sendable, Equatable {
  public var settings: ArchiveSettings
  public var opening: Manifest

  /// A preamble; the root repeats both values.
  public init(settings: ArchiveSettings, opening: Manifest) {
    self.settings = settings
    self.opening = opening
  }

  /// The whole skippable frame, canonical.
  ///
  /// - Throws: `limitExceeded`, `malformed` for values that the format does not allow.
  public func encodedFrame() throws(FormatError) -> [UInt8] { throw FormatError(.unsupported, "later") }

  /// Reads a whole frame.
  ///
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported`, `mismatch` (own hash), offsets in the frame.
  public init(decodingFrame frame: Span<UInt8>) throws(FormatError) { throw FormatError(.unsupported, "later") }
}
