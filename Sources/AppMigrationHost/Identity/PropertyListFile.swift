internal import ArchiveEngine
internal import ArchiveIO
internal import Foundation

/// An XML property list whose root is a dictionary, read with limits: it decides over access and may come from anybody.
struct PropertyListFile {
  /// What a key stands for.
  enum Value {
    case missing
    case string(String)
    case strings([String])
    /// Something else, or an array in which something is no string.
    case other
  }

  /// The most bytes that such a file may have.
  static let maximumByteCount = 1 << 20
  /// The most arrays and dictionaries: the parser recurses into them.
  private static let maximumContainerCount = 1000

  /// The path as it is shown in messages.
  let shownPath: String
  private let root: [String: Any]

  /// Reads a file; nil if there is none.
  init?(path: [UInt8]) throws(MigrationError) {
    let shown = PathText.printable(path)
    shownPath = shown
    guard let bytes = try Self.contents(path, shown) else { return nil }
    root = try Self.parse(bytes, shown)
  }

  /// What the key stands for.
  func value(_ key: String) -> Value {
    guard let value = root[key] else { return .missing }
    if let text = value as? String { return .string(text) }
    if let list = value as? [Any] {
      let texts = list.compactMap { $0 as? String }
      return texts.count == list.count ? .strings(texts) : .other
    }
    return .other
  }

  private static func contents(_ path: [UInt8], _ shown: String) throws(MigrationError) -> [UInt8]? {
    let bytes: [UInt8]?
    do throws(SystemError) {
      // Non-blocking: a FIFO in its place must not stop everything.
      let file = try FileSystem.open(at: FileSystem.currentDirectory, path, [.readOnly, .nonBlocking])
      guard try FileSystem.status(of: file.rawValue).kind == .regular else {
        throw SystemError("openat", errno: EINVAL, path: path)
      }
      bytes = try FileContents.read(file.rawValue, limit: maximumByteCount)
    } catch {
      if error.isNotFound { return nil }
      let reason = error.errno == EINVAL ? "it is not a regular file" : error.reason
      throw MigrationError(.entitlement, "\(shown) cannot be read: \(reason)")
    }
    if let bytes { return bytes }
    throw MigrationError(.entitlement, "\(shown) is larger than \(maximumByteCount) bytes")
  }

  private static func parse(_ bytes: [UInt8], _ shown: String) throws(MigrationError) -> [String: Any] {
    let text = String(decoding: bytes, as: UTF8.self)
    let count = text.split(separator: "<").count { $0.hasPrefix("array") || $0.hasPrefix("dict") }
    guard count <= maximumContainerCount else {
      throw MigrationError(
        .entitlement, "\(shown) holds \(count) arrays and dictionaries; that is no entitlements file")
    }
    var format = PropertyListSerialization.PropertyListFormat.openStep
    let value: Any
    do {
      value = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: &format)
    } catch {
      throw MigrationError(.entitlement, "\(shown) is not an XML property list")
    }
    guard format == .xml else {
      throw MigrationError(
        .entitlement, "\(shown) is a property list, but not in XML (convert it with `plutil -convert xml1`)")
    }
    guard let root = value as? [String: Any] else {
      throw MigrationError(.entitlement, "\(shown) is a property list, but its root is not a dictionary")
    }
    return root
  }
}
