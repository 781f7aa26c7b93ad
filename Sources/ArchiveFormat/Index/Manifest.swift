/// Ordered key-value text of whoever embeds the engine. Keys are unique within one manifest, by their bytes.
public struct Manifest: Sendable, Equatable {
  /// One pair.
  public struct Pair: Sendable, Equatable {
    /// 1...``IndexLimits/manifestKeyByteCount`` bytes of UTF-8.
    public var key: String
    /// At most ``IndexLimits/manifestValueByteCount`` bytes of UTF-8.
    public var value: String

    /// A pair; limits are checked when it is encoded.
    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }

    /// Compares bytes: Unicode equivalence would call different archives equal.
    public static func == (left: Pair, right: Pair) -> Bool {
      left.key.utf8.elementsEqual(right.key.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }
  }

  /// Key in the closing manifest of an archive in which a name occurs twice, as after an item that failed and was appended again: the last counts.
  public static let repeatedNamesKey = "archive.repeated-names"

  /// The pairs in the order given by the writer.
  public var pairs: [Pair]

  /// A manifest of these pairs.
  public init(_ pairs: [Pair] = []) { self.pairs = pairs }

  /// Value of a key, compared by bytes.
  public subscript(key: String) -> String? { pairs.first { $0.key.utf8.elementsEqual(key.utf8) }?.value }

  /// Checks the limits, for a caller that wants to fail before anything is written.
  ///
  /// - Throws: `limitExceeded`; `malformed` for an empty or repeated key.
  public func validate() throws(FormatError) { _ = try checkedByteCount() }

  /// Bytes of all keys and values, each within its limits.
  func checkedByteCount() throws(FormatError) -> Int {
    var total = 0
    var keys: Set<[UInt8]> = []
    for pair in pairs {
      let (key, value) = (pair.key.utf8.count, pair.value.utf8.count)
      guard key > 0 else { throw FormatError(.malformed, "manifest: empty key") }
      guard key <= IndexLimits.manifestKeyByteCount else {
        throw FormatError(.limitExceeded, "manifest: key of \(key) bytes")
      }
      guard value <= IndexLimits.manifestValueByteCount else {
        throw FormatError(.limitExceeded, "manifest: value of \(value) bytes for \(pair.key)")
      }
      guard keys.insert([UInt8](pair.key.utf8)).inserted else {
        throw FormatError(.malformed, "manifest: key \(pair.key) twice")
      }
      total += key + value
    }
    guard total <= IndexLimits.manifestByteCount else {
      throw FormatError(.limitExceeded, "manifest of \(total) bytes")
    }
    return total
  }

  func append(to out: inout [UInt8]) {
    out.append(varint: UInt64(pairs.count))
    for pair in pairs {
      out.append(string: [UInt8](pair.key.utf8))
      out.append(string: [UInt8](pair.value.utf8))
    }
  }

  init(_ bytes: Span<UInt8>, _ cursor: inout IndexCursor) throws(FormatError) {
    let count = try cursor.count(bytes, upTo: IndexLimits.manifestByteCount, minimumByteCount: 3, "manifest")
    pairs = []
    for _ in 0..<count {
      let key = try cursor.string(bytes, upTo: IndexLimits.manifestKeyByteCount, "manifest key")
      let value = try cursor.string(bytes, upTo: IndexLimits.manifestValueByteCount, "manifest value")
      guard let key = String(validating: key, as: UTF8.self), let value = String(validating: value, as: UTF8.self)
      else { throw cursor.failure(.malformed, "manifest: text that is not UTF-8") }
      pairs.append(Pair(key: key, value: value))
    }
    try validate()
  }
}
