/// Names of members: what is an archive path, and how foreign names become one.
enum TarPath {
  /// A name from a header as an archive path.
  struct Normalized {
    var path: [UInt8]
    var hadLeadingSlash: Bool
    var hadTrailingSlash: Bool
  }

  static let root: [UInt8] = [0x2E]

  /// True for an archive path as ``Member/path`` defines it.
  static func isNormal(_ path: Span<UInt8>) -> Bool {
    if path.count == 1, path[0] == 0x2E { return true }
    return isNormal(path, upTo: path.count)
  }

  /// No empty, "." or ".." component and no NUL in the first `count` bytes.
  private static func isNormal(_ path: Span<UInt8>, upTo count: Int) -> Bool {
    var length = 0
    var dotCount = 0
    for index in 0..<count {
      let byte = path[index]
      if byte == 0x2F {
        if length == dotCount, length < 3 { return false }
        length = 0
        dotCount = 0
      } else {
        if byte == 0 { return false }
        length &+= 1
        if byte == 0x2E { dotCount &+= 1 }
      }
    }
    // An empty component has as many dots as bytes too: none.
    return !(length == dotCount && length < 3)
  }

  /// The archive path of a name: leading, doubled and trailing slashes and "." components go.
  ///
  /// - Throws: `.malformed` for an empty name, one of slashes only, a ".." component (also one that cancels itself),
  ///   or a NUL.
  static func normalized(_ name: Span<UInt8>) throws(FormatError) -> Normalized {
    var end = name.count
    if end > 1, name[end - 1] == 0x2F { end -= 1 }
    if isNormal(name, upTo: end) {
      return Normalized(
        path: TarBytes.array(name.extracting(0..<end)), hadLeadingSlash: false, hadTrailingSlash: end < name.count)
    }
    var result = Normalized(path: [], hadLeadingSlash: false, hadTrailingSlash: false)
    var hasDot = false
    var start = 0
    while start <= name.count {
      var stop = start
      while stop < name.count, name[stop] != 0x2F { stop += 1 }
      try appendComponent(name.extracting(start..<stop), to: &result.path, hasDot: &hasDot)
      start = stop + 1
    }
    if result.path.isEmpty {
      guard hasDot else {
        throw FormatError(.malformed, name.count == 0 ? "the name is empty" : "the name has only slashes")
      }
      result.path = root
    }
    result.hadLeadingSlash = name[0] == 0x2F
    result.hadTrailingSlash = name[name.count - 1] == 0x2F
    return result
  }

  private static func appendComponent(
    _ component: Span<UInt8>, to path: inout [UInt8], hasDot: inout Bool
  ) throws(FormatError) {
    if component.count == 0 { return }
    if component.count == 1, component[0] == 0x2E {
      hasDot = true
      return
    }
    if component.count == 2, component[0] == 0x2E, component[1] == 0x2E {
      throw FormatError(.malformed, "the name has a \"..\" component")
    }
    if TarBytes.contains(0, in: component) { throw FormatError(.malformed, "the name has a NUL byte") }
    if !path.isEmpty { path.append(0x2F) }
    TarBytes.append(component, to: &path)
  }
}
