/// What bundle and group identifiers may look like. They become names of directories, so nothing in them may lead anywhere.
package enum BundleIdentifier {
  /// The most bytes; Apple's limit, and short enough for names that are made of it.
  package static let maximumByteCount = 155

  /// What the check demands, for messages.
  package static let rule =
    "letters, digits, \".\" and \"-\", not beginning with \".\", without \"..\", at most \(maximumByteCount) bytes"

  /// Whether the text can be an identifier.
  package static func isPlausible(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard (1...maximumByteCount).contains(bytes.count), bytes[0] != 0x2E, !text.contains("..") else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E: true
      default: false
      }
    }
  }
}
