/// Which symlinks may arrive: those that stay below the root of what is imported.
enum LinkRule {
  enum Judgement { case inside, outside, doubtful }

  /// Where a link that lies `depth` directories below the root can lead.
  ///
  /// Leading ".." go up through the real directories in which the link lies, so they can be counted. After them come directories and links,
  /// each of which stays below the root itself. A ".." after one of those starts from wherever that has led: only the kernel can tell.
  static func judge(_ target: [UInt8], depth: Int) -> Judgement {
    if target.isEmpty || target[0] == 0x2F { return .outside }
    var (ups, hasName) = (0, false)
    for component in target.split(separator: 0x2F) where !component.elementsEqual([0x2E]) {
      if !component.elementsEqual([0x2E, 0x2E]) {
        hasName = true
      } else if hasName {
        return .doubtful
      } else {
        ups += 1
        if ups > depth { return .outside }
      }
    }
    return .inside
  }
}
