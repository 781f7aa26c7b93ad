internal import Glibc

/// The path behind a file URL, as bytes.
enum FilePath {
  /// Takes the path out of a URL; what it leads to is not looked at.
  static func bytes(of url: URL) throws(ResourcesArchiverError) -> [UInt8] {
    guard url.isFileURL else {
      throw ResourcesArchiverError("is no file URL", path: url.absoluteString)
    }
    let plain = unsafe url.withUnsafeFileSystemRepresentation { path -> [UInt8] in
      guard let path = unsafe path else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }
    if !plain.isEmpty { return plain }
    // Foundation gives nothing for names that are not UTF-8.
    let decoded = percentDecoded(url.absoluteURL.path(percentEncoded: true))
    if decoded.isEmpty || decoded.contains(0) {
      throw ResourcesArchiverError("names no file", path: url.absoluteString)
    }
    return decoded
  }

  private static func percentDecoded(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == 0x25, rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
