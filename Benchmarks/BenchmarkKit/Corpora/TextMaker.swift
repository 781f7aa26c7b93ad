/// Text that compresses about as prose and source code do: words of a seeded vocabulary, frequent ones far more often.
package struct TextMaker: Sendable {
  private let vocabulary: [[UInt8]]

  /// Makes a vocabulary.
  package init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let letters = Array("etaoinshrdlucmfwypvbgkjqxz".utf8)
    vocabulary = (0..<6000).map { _ in
      (0..<(2 + random.below(9))).map { _ in letters[random.skewed(below: letters.count)] }
    }
  }

  /// Exactly so many bytes of lines.
  package func bytes(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(count + 16)
    var column = 0
    while text.count < count {
      let word = vocabulary[random.skewed(below: vocabulary.count)]
      text.append(contentsOf: word)
      column += word.count + 1
      if random.below(12) == 0 { text.append(random.below(3) == 0 ? UInt8(ascii: ".") : UInt8(ascii: ",")) }
      if random.below(40) == 0 { text.append(contentsOf: String(random.below(100_000)).utf8) }
      text.append(column > 70 ? 0x0A : 0x20)
      if column > 70 { column = 0 }
    }
    text.removeLast(text.count - count)
    return text
  }
}
