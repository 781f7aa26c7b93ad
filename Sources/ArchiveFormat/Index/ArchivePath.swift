/// Rules for names in the index.
enum ArchivePath {
  /// The path is "." or consists of components that are separated by one "/" each, none of them empty, "." or "..",
  /// and has no NUL.
  static func isValid(_ path: [UInt8]) -> Bool {
    let bytes = path.span
    let count = bytes.count
    if count == 1 { return bytes[0] != 0x2F && bytes[0] != 0 }
    var start = 0
    for index in bytes.indices {
      // Few bytes are below the digits: one comparison passes over the others.
      let byte = bytes[index]
      guard byte < 0x30 else { continue }
      if byte == 0 { return false }
      if byte == 0x2F {
        guard isValidComponent(bytes, start, index) else { return false }
        start = index + 1
      }
    }
    return isValidComponent(bytes, start, count)
  }

  private static func isValidComponent(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
    switch end - start {
    case 0: false
    case 1: bytes[start] != 0x2E
    case 2: bytes[start] != 0x2E || bytes[start + 1] != 0x2E
    default: true
    }
  }
}
