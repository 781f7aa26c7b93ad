internal import ArchiveEngine
public import MigrationWire

/// What an archive says about the migration that it belongs to: pairs of text in the archive's index.
public struct MigrationManifest: Sendable, Equatable {
  /// Version of the data's format, as the exporting extension gave it.
  public var version: String
  /// The app that it comes from.
  public var source: SourceApp
  /// Where it was meant to go.
  public var destinationPlatform: String
  /// Bytes that the extension expected.
  public var sizeEstimate: Int64
  /// Whether compressing was worth a try.
  public var isCompressible: Bool

  /// Makes a manifest.
  public init(
    version: String, source: SourceApp, destinationPlatform: String, sizeEstimate: Int64, isCompressible: Bool
  ) {
    self.version = version
    self.source = source
    self.destinationPlatform = destinationPlatform
    self.sizeEstimate = sizeEstimate
    self.isCompressible = isCompressible
  }

  private enum Key {
    static let version = "migration.version"
    static let estimate = "migration.size-estimate"
    static let compressible = "migration.compressible"
    static let platform = "migration.source.platform"
    static let bundle = "migration.source.bundle-identifier"
    static let store = "migration.source.store-identifier"
    static let destination = "migration.destination.platform"
    static let items = "migration.items"
    static let withdrawnPath = "migration.withdrawn.path."
    static let withdrawnHashes = "migration.withdrawn.path-hashes."
  }

  /// The pairs that are known before the first item.
  var pairs: [(key: String, value: String)] {
    [
      (Key.version, version), (Key.estimate, String(sizeEstimate)), (Key.compressible, isCompressible ? "yes" : "no"),
      (Key.platform, source.platform), (Key.bundle, source.bundleIdentifier), (Key.store, source.storeIdentifier),
      (Key.destination, destinationPlatform),
    ]
  }

  /// Understands the pairs of an archive; nil when it comes from no migration.
  init?(pairs: [(key: String, value: String)]) {
    func value(_ key: String) -> String? { pairs.first { $0.key == key }?.value }
    guard let version = value(Key.version), let bundle = value(Key.bundle) else { return nil }
    self.init(
      version: version,
      source: SourceApp(
        storeIdentifier: value(Key.store) ?? "", bundleIdentifier: bundle, platform: value(Key.platform) ?? ""),
      destinationPlatform: value(Key.destination) ?? "", sizeEstimate: value(Key.estimate).flatMap(Int64.init) ?? 0,
      isCompressible: value(Key.compressible) != "no")
  }

  /// The pairs that are known after the last item. Paths are in hexadecimal digits: they need not be text.
  static func closingPairs(itemCount: UInt64, withdrawn: WithdrawnMembers) -> [(key: String, value: String)] {
    var pairs: [(key: String, value: String)] = [(Key.items, String(itemCount))]
    for (index, path) in withdrawn.prefixes.enumerated() {
      pairs.append(("\(Key.withdrawnPath)\(index)", path.map { hexadecimal(UInt64($0), digitCount: 2) }.joined()))
    }
    // A value holds at most 64 KiB.
    let step = 4000
    for start in stride(from: 0, to: withdrawn.pathHashes.count, by: step) {
      let part = withdrawn.pathHashes[start..<min(start + step, withdrawn.pathHashes.count)]
      pairs.append(
        ("\(Key.withdrawnHashes)\(start / step)", part.map { hexadecimal($0, digitCount: 16) }.joined()))
    }
    return pairs
  }

  /// What an import has to leave out. Values that are no such list are an error: something would arrive that must not.
  static func withdrawn(in pairs: [(key: String, value: String)]) throws(MigrationError) -> WithdrawnMembers {
    var members = WithdrawnMembers(prefixes: [], pathHashes: [])
    for (key, value) in pairs {
      if key.hasPrefix(Key.withdrawnPath) {
        members.prefixes.append(try numbers(value, digitCount: 2, key).map { UInt8($0) })
      } else if key.hasPrefix(Key.withdrawnHashes) {
        members.pathHashes += try numbers(value, digitCount: 16, key)
      }
    }
    return members
  }

  private static func hexadecimal(_ value: UInt64, digitCount: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: digitCount - text.utf8.count) + text
  }

  private static func numbers(
    _ text: String, digitCount: Int, _ key: String
  ) throws(MigrationError) -> [UInt64] {
    let digits = Array(text.utf8)
    guard digits.count % digitCount == 0 else {
      throw MigrationError(.archive, "the archive's manifest holds a damaged list, \(key)")
    }
    var values: [UInt64] = []
    for start in stride(from: 0, to: digits.count, by: digitCount) {
      var value: UInt64 = 0
      for digit in digits[start..<start + digitCount] {
        guard let number = Character(Unicode.Scalar(digit)).hexDigitValue else {
          throw MigrationError(.archive, "the archive's manifest holds a damaged list, \(key)")
        }
        value = value << 4 | UInt64(number)
      }
      values.append(value)
    }
    return values
  }
}
