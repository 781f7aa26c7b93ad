package import MigrationWire

extension ErrorRecord {
  /// The domain of the generic error, which stands for errors that cannot be converted.
  package static let genericDomain = "AppMigrationKit.ImportError"

  /// What stands for an error of which no record can be made: one without a domain, or with more text than a message holds.
  package static let generic = ErrorRecord(
    domain: genericDomain, code: 1, description: "The extension failed with an error that cannot be passed on.")

  /// The most bytes of a record as a message.
  private static let maximumByteCount = 128 << 10
  /// The most values of `userInfo`.
  private static let maximumValueCount = 1000

  /// Keeps of an error what text and numbers can say: as an `NSError` its domain, code, description and those values of `userInfo`
  /// that are strings.
  package init(converting error: any Error) {
    if let record = error as? ErrorRecord {
      self = record
      return
    }
    let error = error as NSError
    let record = ErrorRecord(
      domain: error.domain, code: error.code, description: error.localizedDescription,
      userInfo: error.userInfo.compactMapValues { $0 as? String })
    let isConvertible =
      !record.domain.isEmpty && record.userInfo.count <= Self.maximumValueCount
      && record.byteCount <= Self.maximumByteCount
    self = isConvertible ? record : .generic
  }

  /// The error as the app sees it; its description is the one that the extension gave it.
  package var nsError: NSError {
    var values: [String: Any] = userInfo
    values[NSLocalizedDescriptionKey] = description
    return NSError(domain: domain, code: code, userInfo: values)
  }

  private var byteCount: Int {
    domain.utf8.count + description.utf8.count
      + userInfo.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
  }
}
