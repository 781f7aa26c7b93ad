/// A shell pattern for leaving files out: `*` and `?` match any bytes, "/" included, `[...]` a set, `\` quotes.
///
/// As with GNU tar's `--exclude`, a pattern matches a path when it matches all of it or all of it from some "/" on; what lies in an excluded
/// directory is left out with it.
public struct GlobPattern: Sendable {
  private let pattern: [UInt8]

  /// A pattern of bytes.
  public init(_ pattern: [UInt8]) { self.pattern = pattern }

  /// Whether the pattern matches a path, or its end after a "/".
  public func matches(path: [UInt8]) -> Bool {
    if matches(path[...]) { return true }
    for index in path.indices where path[index] == UInt8(ascii: "/") {
      if matches(path[(index + 1)...]) { return true }
    }
    return false
  }

  private func matches(_ text: ArraySlice<UInt8>) -> Bool {
    var (p, t) = (0, text.startIndex)
    var (starPattern, starText) = (-1, 0)
    while t < text.endIndex {
      if p < pattern.count, pattern[p] == UInt8(ascii: "*") {
        (starPattern, starText) = (p, t)
        p += 1
      } else if p < pattern.count, let next = matchOne(at: p, text[t]) {
        p = next
        t += 1
      } else if starPattern >= 0 {
        starText += 1
        (p, t) = (starPattern + 1, starText)
      } else {
        return false
      }
    }
    return pattern[p...].allSatisfy { $0 == UInt8(ascii: "*") }
  }

  /// Where the pattern goes on when its element at `index` matches the byte.
  private func matchOne(at index: Int, _ byte: UInt8) -> Int? {
    switch pattern[index] {
    case UInt8(ascii: "?"): return index + 1
    case UInt8(ascii: "\\") where index + 1 < pattern.count:
      return pattern[index + 1] == byte ? index + 2 : nil
    case UInt8(ascii: "["):
      guard let (isMatch, next) = matchSet(at: index, byte) else { return byte == UInt8(ascii: "[") ? index + 1 : nil }
      return isMatch ? next : nil
    default: return pattern[index] == byte ? index + 1 : nil
    }
  }

  private func matchSet(at start: Int, _ byte: UInt8) -> (isMatch: Bool, next: Int)? {
    var index = start + 1
    var isNegated = false
    if index < pattern.count, pattern[index] == UInt8(ascii: "!") || pattern[index] == UInt8(ascii: "^") {
      isNegated = true
      index += 1
    }
    let first = index
    var isMatch = false
    while index < pattern.count, pattern[index] != UInt8(ascii: "]") || index == first {
      let low = pattern[index]
      var high = low
      if index + 2 < pattern.count, pattern[index + 1] == UInt8(ascii: "-"), pattern[index + 2] != UInt8(ascii: "]") {
        high = pattern[index + 2]
        index += 2
      }
      if low <= byte && byte <= high { isMatch = true }
      index += 1
    }
    guard index < pattern.count else { return nil }
    return (isMatch != isNegated, index + 1)
  }
}
