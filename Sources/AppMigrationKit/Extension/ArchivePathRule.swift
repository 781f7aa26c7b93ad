/// What a path in the archive must look like. It is used byte by byte as it is given; nothing is normalised.
enum ArchivePathRule {
  /// The most bytes of a path. A message holds it beside the content of a small file.
  static let maximumByteCount = 32 << 10
  /// The most bytes of a component: what Linux file systems take, so that the archive can be unpacked.
  static let maximumComponentByteCount = 255

  /// Checks a path that the extension gave.
  ///
  /// - Returns: the path and whether it ended in one slash, which only a directory's may; the slash is left out.
  static func check(_ given: [UInt8]) throws(ResourcesArchiverError) -> (path: [UInt8], isDirectoryOnly: Bool) {
    let isDirectoryOnly = given.count > 1 && given.last == 0x2F
    let path = isDirectoryOnly ? Array(given.dropLast()) : given
    if let fault = fault(of: path) {
      throw ResourcesArchiverError(fault, path: String(decoding: given, as: UTF8.self))
    }
    return (path, isDirectoryOnly)
  }

  /// The path of an item for which none was given: the last component of its file's path.
  static func derived(from file: [UInt8]) throws(ResourcesArchiverError) -> [UInt8] {
    let end = file.lastIndex { $0 != 0x2F } ?? -1
    let start = (file[..<(end + 1)].lastIndex(of: 0x2F) ?? -1) + 1
    let name = end < 0 ? [] : Array(file[start...end])
    if name.isEmpty || fault(of: name) != nil {
      throw ResourcesArchiverError(
        "has no last component that could be the path in the archive; give pathInArchive",
        path: String(decoding: file, as: UTF8.self))
    }
    return name
  }

  private static func fault(of path: [UInt8]) -> String? {
    if path.isEmpty { return "the path in the archive is empty" }
    if path.count > maximumByteCount { return "the path in the archive is longer than \(maximumByteCount) bytes" }
    if path[0] == 0x2F { return "the path in the archive is absolute; it must be relative" }
    let bytes = path.span
    var start = 0
    for index in bytes.indices {
      if bytes[index] == 0 { return "the path in the archive holds a NUL" }
      if bytes[index] == 0x2F {
        if let fault = componentFault(bytes, start, index) { return fault }
        start = index + 1
      }
    }
    return componentFault(bytes, start, bytes.count)
  }

  private static func componentFault(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> String? {
    switch end - start {
    case 0: return "the path in the archive has an empty component"
    case 1 where bytes[start] == 0x2E: return "the path in the archive has the component \".\""
    case 2 where bytes[start] == 0x2E && bytes[start + 1] == 0x2E:
      return "the path in the archive has the component \"..\""
    case let count where count > maximumComponentByteCount:
      return "the path in the archive has a component of more than \(maximumComponentByteCount) bytes"
    default: return nil
    }
  }
}
