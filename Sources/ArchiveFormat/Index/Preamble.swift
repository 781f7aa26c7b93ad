/// The frame behind the first data frame: settings and opening manifest where the reader of a pipe sees them early.
public struct Preamble: Sendable, Equatable {
  /// Settings of the archive.
  public var settings: ArchiveSettings
  /// The manifest that was known at the start.
  public var opening: Manifest

  /// A preamble; the root repeats both values.
  public init(settings: ArchiveSettings, opening: Manifest) {
    self.settings = settings
    self.opening = opening
  }

  /// The whole skippable frame, canonical.
  ///
  /// - Throws: `limitExceeded`, `malformed` for values that the format does not allow.
  public func encodedFrame() throws(FormatError) -> [UInt8] {
    try opening.validate()
    var body: [UInt8] = []
    try settings.append(to: &body)
    opening.append(to: &body)
    var frame = try SkippableFrame.prefix(.preamble, bodyByteCount: body.count + 8)
    frame.append(contentsOf: body)
    frame.append(littleEndian: XXH3.hash64(frame.span))
    return frame
  }

  /// Reads a whole frame.
  ///
  /// - Throws: `malformed`, `truncated`, `limitExceeded`, `unsupported`, `mismatch` (own hash), offsets in the frame.
  public init(decodingFrame frame: Span<UInt8>) throws(FormatError) {
    guard frame.count <= IndexLimits.rootFrameByteCount else {
      throw FormatError(.limitExceeded, "preamble of \(frame.count) bytes")
    }
    var cursor = IndexCursor(try SkippableFrame.parse(.preamble, frame))
    settings = try ArchiveSettings(frame, &cursor)
    opening = try Manifest(frame, &cursor)
    let actual = XXH3.hash64(frame.extracting(0..<cursor.offset))
    let stated = try cursor.littleEndian(frame, as: UInt64.self)
    try cursor.finish()
    guard actual == stated else {
      throw cursor.failure(
        .mismatch, "preamble hash is \(actual.paddedHexadecimal), stated \(stated.paddedHexadecimal)")
    }
  }
}
