import Foundation

/// How version 1.0 stored notes: `Notes/0001.txt`, the date being the file's, and the photo beside it as `0001.jpg` or the like.
public struct FirstLayout {
  static let name = "Notes"
  private let directory: URL

  /// The notes in a directory: Documents, or what an archive held.
  public init(in directory: URL) { self.directory = directory.appendingPathComponent(Self.name) }

  /// All notes.
  public func notes() throws -> [Note] {
    guard FileManager.default.fileExists(atPath: directory.path) else { return [] }
    let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
    let photos = Dictionary(
      files.filter { $0.pathExtension != "txt" }.map { ($0.deletingPathExtension().lastPathComponent, $0) },
      uniquingKeysWith: { first, _ in first })
    return try files.filter { $0.pathExtension == "txt" }.map { file in
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      return Note(
        text: try String(contentsOf: file, encoding: .utf8),
        created: attributes[.modificationDate] as? Date ?? Date(),
        photo: photos[file.deletingPathExtension().lastPathComponent])
    }
  }

  /// Stores notes as version 1.0 did, copying their photos. Their tags are lost.
  public func write(_ notes: [Note]) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (index, note) in notes.enumerated() {
      let file = directory.appendingPathComponent(String(format: "%04d", index + 1))
      let text = file.appendingPathExtension("txt")
      try Data(note.text.utf8).write(to: text)
      try FileManager.default.setAttributes([.modificationDate: note.created], ofItemAtPath: text.path)
      guard let photo = note.photo else { continue }
      try FileManager.default.copyItem(at: photo, to: file.appendingPathExtension(photo.pathExtension))
    }
  }
}
