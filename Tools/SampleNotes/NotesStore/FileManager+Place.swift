import Foundation

/// How a file gets to its place.
public enum Transfer: Sendable { case copy, move }

extension FileManager {
  /// Puts a file into a directory, which is made, under its own name if that is free and under another one else.
  func place(_ file: URL, in directory: URL, by transfer: Transfer) throws -> URL {
    try createDirectory(at: directory, withIntermediateDirectories: true)
    var target = directory.appendingPathComponent(file.lastPathComponent)
    if fileExists(atPath: target.path) {
      target = directory.appendingPathComponent("\(UUID().uuidString)-\(file.lastPathComponent)")
    }
    switch transfer {
    case .copy: try copyItem(at: file, to: target)
    case .move: try moveItem(at: file, to: target)
    }
    return target
  }
}
