import Foundation

/// A note, as all versions of the app understand it.
public struct Note: Sendable {
  /// What was written.
  public var text: String
  /// When, to the second.
  public var created: Date
  /// Where the photo lies now.
  public var photo: URL?
  /// In alphabetical order, each once. Versions before 3.0 have none.
  public var tags: [String]

  /// Makes a note.
  public init(text: String, created: Date = Date(), photo: URL? = nil, tags: [String] = []) {
    self.text = text
    self.created = created
    self.photo = photo
    self.tags = Set(tags).sorted()
  }
}

/// What the store cannot do, and why.
public struct NotesError: LocalizedError {
  /// The reason.
  public let errorDescription: String?

  /// Makes an error.
  public init(_ reason: String) { errorDescription = reason }
}
