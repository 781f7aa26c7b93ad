/// Why an item cannot be added to the archive. Apple's framework names no type for it.
public struct ResourcesArchiverError: LocalizedError, CustomNSError, Equatable, Sendable {
  /// What is wrong, without the path.
  public let message: String
  /// The path in question: that of the file, or that in the archive where this is what is wrong.
  public let path: String

  package init(_ message: String, path: String) {
    self.message = message
    self.path = path
  }

  /// The path and what is wrong.
  public var errorDescription: String? {
    path.isEmpty || message.hasPrefix("\(path): ") ? message : "\(path): \(message)"
  }

  /// The domain of the error as an `NSError`.
  public static var errorDomain: String { "AppMigrationKit.ResourcesArchiverError" }
  /// There is one code.
  public var errorCode: Int { 1 }
  /// The text and the path, as strings.
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: errorDescription ?? message, NSFilePathErrorKey: path]
  }
}
