import Foundation

/// The user's preferences, a property list in all versions.
public struct Preferences: Codable, Equatable, Sendable {
  /// Which notes are listed first.
  public enum Order: String, Codable, CaseIterable, Sendable { case newestFirst, oldestFirst }

  /// Which notes are listed first.
  public var order = Order.oldestFirst

  /// Makes the ones that a new user has.
  public init() {}

  /// Reads a file; where there is none, those of a new user.
  public init(readingFrom file: URL) throws {
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    self = try PropertyListDecoder().decode(Preferences.self, from: Data(contentsOf: file))
  }

  /// Writes the file, and makes its directory.
  public func write(to file: URL) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try encoder.encode(self).write(to: file, options: .atomic)
  }
}
