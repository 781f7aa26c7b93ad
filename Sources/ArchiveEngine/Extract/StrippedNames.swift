internal import ArchiveFormat

/// Names that lose leading components, as `--strip-components` asks for.
enum StrippedNames {
  /// The path without so many leading components; nil when nothing is left.
  static func strip(_ path: [UInt8], componentCount: Int) -> [UInt8]? {
    var rest = path[...]
    for _ in 0..<componentCount {
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
      rest = rest[(slash + 1)...]
    }
    return Array(rest)
  }

  /// Whether members that are wanted come to have the same name. In archive order the last of them then counts, which
  /// only a run over the whole stream can do; the names in an index are all different otherwise.
  static func collide(
    in archive: IndexedArchive, selection: MemberSelection, componentCount: Int, stop: StopSignal
  ) throws(ArchiveError) -> Bool {
    guard componentCount > 0 else { return false }
    var names = NameTable()
    let codec = archive.makeCodec()
    var pages = PageIterator(archive)
    while let location = try pages.nextLocation() {
      try stop.check()
      for indexed in try archive.page(location, codec: codec).members where selection.contains(indexed.member.path) {
        guard let path = strip(indexed.member.path, componentCount: componentCount) else { continue }
        let kind: NameTable.Entry = indexed.member.kind == .directory ? .directory : .other
        let hash = XXH3.hash64(path.span)
        if let known = names.find(hash), known == .other || kind == .other { return true }
        names.set(hash, kind)
      }
    }
    return false
  }
}
