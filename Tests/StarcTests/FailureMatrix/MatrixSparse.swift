/// Sparse files of all forms, with maps that cannot be, and sizes that nobody has.
extension FailureMatrix {
  private static func block(_ count: Int = 1) -> Bytes { Bytes(repeating: "q", count: 512 * count) }

  private static func inRecords(_ records: (Bytes, Bytes)..., data: Bytes = "0123456789") -> [UInt8] {
    Tar.entry("PaxHeaders/p", Bytes(records.flatMap { Tar.record($0.0, $0.1) }), type: "x") + Tar.entry("s", data)
  }

  /// A sparse file as star writes it: the map lies where others have the name's prefix.
  private static func star(_ extents: [(UInt64, UInt64)], _ data: Bytes, size: UInt64) -> [UInt8] {
    Tar.entry("s", data, type: "S") { header in
      for (index, extent) in extents.enumerated() {
        header.patches.append((356 + 24 * index, Bytes(Tar.number(extent.0, 12))))
        header.patches.append((368 + 24 * index, Bytes(Tar.number(extent.1, 12))))
      }
      header.patches.append((452, Bytes(Tar.number(size, 12))))
      // Times of access and change, where GNU tar has the flag that the map goes on.
      header.patches.append((476, "14000000000\u{0}"))
      header.patches.append((488, "14000000000\u{0}"))
      header.patches.append((508, "tar\u{0}"))
    }
  }

  static let sparse: [FailureMode] = [
    accepted(
      "sparse: no name of its own", ["GNUSparseFile.0/", "GNUSparseFile.0/s=<1024>"],
      Tar.pax(("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.realsize", "1024")),
      Tar.entry("GNUSparseFile.0/s", Bytes(Tar.padded(Array("1\n0\n512\n".utf8)) + block().bytes))),
    accepted(
      "sparse: an empty extent at the end", ["s=<1024>"], Tar.sparse("2\n0\n512\n1024\n0\n", block(), size: "1024")),
    accepted("sparse: nothing but a hole", ["s=<1024>"], Tar.sparse("0\n", "", size: "1024")),
    accepted("sparse: an empty file", ["s="], Tar.sparse("0\n", "", size: "0")),
    accepted(
      "sparse: a pax path beside its name", ["s=<1024>"],
      Tar.pax(
        ("path", "p"), ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"),
        ("GNU.sparse.name", "s"), ("GNU.sparse.realsize", "1024")),
      Tar.entry("x", Bytes(Tar.padded(Array("1\n0\n512\n".utf8)) + block().bytes))),
    refused(
      "sparse: no size", says: "size", [], Tar.pax(("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")),
      Tar.entry("s", block(2))),
    refused(
      "sparse: an empty extent behind the end", says: "outside", [],
      Tar.sparse("2\n0\n512\n2048\n0\n", block(), size: "1024")),
    refused(
      "sparse: a name that is a directory", says: "ends in", [],
      Tar.sparse("1\n0\n512\n", block(), size: "1024", name: "s/")),
    refused(
      "sparse: a name that climbs", says: "..", [], Tar.sparse("1\n0\n512\n", block(), size: "1024", name: "a/../../s")),
    refused(
      "sparse: one byte above the limit", says: "limit", [],
      Tar.sparse("1\n0\n512\n", block(), size: "1152921504606846977")),
    refused(
      "sparse: the map has no newline at its end", says: "map", [], Tar.sparse("1\n0\n512", block(), size: "1024")),
    refused(
      "sparse: a number of 20 digits", says: "digits", [],
      Tar.sparse("1\n00000000000000000000\n512\n", block(), size: "1024")),
    refused(
      "sparse: an empty line in the map", says: "empty number", [], Tar.sparse("1\n\n512\n", block(), size: "1024")),
    refused("sparse: a blank in the map", says: "byte 32", [], Tar.sparse("1\n 0\n512\n", block(), size: "1024")),
    refused(
      "sparse: more data than the map says", says: "store", [], Tar.sparse("1\n0\n512\n", block(5), size: "1024")),
    refused(
      "sparse: no room for the map", says: "room", [],
      Tar.pax(
        ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "s"), ("GNU.sparse.realsize", "9")),
      Tar.entry("s", "1\n")),
    refused("sparse: of Solaris tar", says: "Solaris", [], inRecords(("SUN.holesdata", " 0 10 100"))),
    refused(
      "sparse: a hard link with a map", says: "GNU.sparse", [],
      Tar.pax(
        ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"),
        ("GNU.sparse.name", "s"), ("GNU.sparse.realsize", "1024")), Tar.hardLink("s", to: "before")),
    refused(
      "sparse 0.0: two offsets without a size", says: "without", [],
      inRecords(
        ("GNU.sparse.size", "99"), ("GNU.sparse.numblocks", "1"),
        ("GNU.sparse.offset", "0"), ("GNU.sparse.offset", "5"), ("GNU.sparse.numbytes", "10"))),
    refused(
      "sparse 0.0: a size without an offset", says: "without", [],
      inRecords(("GNU.sparse.size", "99"), ("GNU.sparse.numbytes", "10"))),
    refused(
      "sparse 0.0: extents that overlap", says: "begins at", [],
      inRecords(
        ("GNU.sparse.size", "99"), ("GNU.sparse.offset", "0"),
        ("GNU.sparse.numbytes", "6"), ("GNU.sparse.offset", "5"), ("GNU.sparse.numbytes", "4"))),
    refused(
      "sparse 0.1: extents out of order", says: "begins at", [],
      inRecords(("GNU.sparse.size", "99"), ("GNU.sparse.map", "50,5,0,5"))),
    refused(
      "sparse 0.1: negative", says: "GNU.sparse.map", [],
      inRecords(("GNU.sparse.size", "99"), ("GNU.sparse.map", "-1,10"))),
    refused(
      "sparse 0.1: outside of the file", says: "outside", [],
      inRecords(("GNU.sparse.size", "5"), ("GNU.sparse.map", "0,10"))),
    accepted(
      "sparse 0.1: two extents", status: 1, says: "512", ["s=<100>"],
      inRecords(("GNU.sparse.size", "100"), ("GNU.sparse.map", "0,5,50,5"))),
    accepted(
      "sparse 0.1: an empty map", ["s=<100>"],
      inRecords(("GNU.sparse.size", "100"), ("GNU.sparse.numblocks", "0"), ("GNU.sparse.map", ""), data: "")),
    accepted(
      "sparse of star", ["s=<2000>"], star([(512, 512), (1500, 10)], Bytes(repeating: "q", count: 522), size: 2000)),
    refused(
      "sparse of star: extents overlap", says: "begins at", [],
      star([(512, 512), (600, 10)], Bytes(repeating: "q", count: 522), size: 2000)),
    refused("old sparse: outside of the file", says: "outside", [], Tar.oldSparse([(2000, 3)], "abc", size: 1024)),
    refused(
      "old sparse: out of order", says: "begins at", [], Tar.oldSparse([(900, 3), (0, 3)], "abcdef", size: 1024)),
    refused("old sparse: less is stored", says: "store", [], Tar.oldSparse([(0, 512)], "abc", size: 1024)),
    refused(
      "old sparse: a size that is none", says: "size field", [],
      Tar.entry("s", "abc", type: "S") { header in
        header.magic = "ustar  \u{0}"
        header.patches = [(483, Bytes([UInt8](repeating: 0xFF, count: 12)))]
      }),
    // The next header is taken as a part of the map, and what follows it as a header.
    damaged(
      "old sparse: the map goes on in what is no map", says: "",
      Tar.entry("s", "abc", type: "S") { header in
        header.magic = "ustar  \u{0}"
        header.patches = [(482, "\u{1}"), (483, Bytes(Tar.number(99, 12)))]
      }),
  ]
}
