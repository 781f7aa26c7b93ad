/// Sentences about one member. Each is there once and there are few, whatever the headers repeat: an archive may put any number of extended headers in front of a
/// member, or of records into one.
struct TarNotes: Sendable {
  private(set) var texts: [String] = []
  private static let maximumCount = 16

  /// Adds a sentence; one that is there already, or one too many, is left out.
  mutating func append(_ text: String) {
    if texts.count < Self.maximumCount, !texts.contains(text) { texts.append(text) }
  }

  /// Adds those of another.
  mutating func append(contentsOf other: TarNotes) {
    for text in other.texts { append(text) }
  }
}
