/// Sentences about one member. Their number is bounded: any number of odd headers can stand in front of a member, and a
/// terabyte of them takes little room in a compressed archive.
struct TarNotes: Sendable {
  private(set) var sentences: [String] = []

  /// Adds a sentence, unless it is there already; the last that has room says that there would be more.
  mutating func append(_ sentence: @autoclosure () -> String) {
    guard sentences.count < TarLimits.maximumNoteCount else { return }
    let sentence = sentence()
    if sentences.contains(sentence) { return }
    let isLast = sentences.count == TarLimits.maximumNoteCount - 1
    sentences.append(isLast ? "more about it is odd and not listed" : sentence)
  }

  mutating func append(contentsOf others: TarNotes) {
    for sentence in others.sentences { append(sentence) }
  }
}
