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

  /// The pairs in the order given by the writer.
  public var pairs: [Pair]

  /// A manifest of these pairs.
  public init(_ pairs: [Pair] = []) { self.pairs = pairs }

  /// Value of a key, compared by bytes.
  public subscript(key: String) -> String? { pairs.first { $0.key.utf8.elementsEqual(key.utf8) }?.value }

  /// Checks all limits, for a caller that wants to fail before anything is written.
  ///
  /// - Throws: `limitExceeded`; `malformed` for an empty or repeated key.
  public func validate() throws(FormatError) { throw FormatError(.unsupported, "later") }
}
