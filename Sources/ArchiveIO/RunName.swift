/// What all names of one run have in common that makes temporary files in a directory which others use too.
package struct RunName: Sendable, Hashable {
  static let prefix = Array(".starc-".utf8)
  private static let markSuffix = Array(".lock".utf8)
  private static let temporarySuffix = Array(".tmp".utf8)

  /// Nobody foresees it, and no run has that of another, not even one with the same process number in a container.
  private let random: [UInt8]

  package init() throws(SystemError) { random = try RandomName.make() }

  /// The run whose mark has this name; nil for a name of any other form.
  init?(mark name: [UInt8]) {
    guard let rest = Self.split(name), rest.tail.elementsEqual(Self.markSuffix) else { return nil }
    random = rest.random
  }

  /// The run whose temporary file has this name; nil for a name of any other form.
  init?(temporary name: [UInt8]) {
    guard let rest = Self.split(name), rest.tail.first == UInt8(ascii: "-") else { return nil }
    let digits = rest.tail.dropFirst().prefix { (0x30...0x39).contains($0) }
    guard !digits.isEmpty, rest.tail.dropFirst(1 + digits.count).elementsEqual(Self.temporarySuffix) else { return nil }
    random = rest.random
  }

  /// ".starc-RANDOM.lock"
  var markName: [UInt8] { Self.prefix + random + Self.markSuffix }

  /// ".starc-RANDOM-NUMBER.tmp"
  package func temporaryName(_ number: UInt64) -> [UInt8] {
    Self.prefix + random + Array("-\(number)".utf8) + Self.temporarySuffix
  }

  private static func split(_ name: [UInt8]) -> (random: [UInt8], tail: ArraySlice<UInt8>)? {
    let end = prefix.count + RandomName.byteCount
    guard name.count > end, name.starts(with: prefix) else { return nil }
    let random = name[prefix.count..<end]
    guard random.allSatisfy(RandomName.letters.contains) else { return nil }
    return (Array(random), name[end...])
  }
}
