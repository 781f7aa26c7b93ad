package import ArchiveIO

/// A tree that a seed determines, so that the benchmark runs anywhere, with the same input everywhere.
package struct SyntheticCorpus: Sendable {
  /// What it is like.
  package enum Kind: String, Sendable, CaseIterable {
    /// Very many files of at most a few KiB.
    case tiny
    /// Two files, one that compresses and one that hardly does.
    case huge
    /// Text files of all sizes, as in a source tree.
    case text
    /// Files that do not compress.
    case random
    /// Files that are mostly holes.
    case sparse
    /// An app's container: a database, photos, preferences, caches.
    case container
  }

  /// What it is like.
  package let kind: Kind
  /// The same seed, kind and size give the same bytes.
  package let seed: UInt64
  /// About so much content, holes left out.
  package let byteCount: Int

  /// Describes a corpus.
  package init(kind: Kind, seed: UInt64, byteCount: Int) {
    self.kind = kind
    self.seed = seed
    self.byteCount = max(byteCount, 64 << 10)
  }

  /// Makes it in an empty directory.
  package func generate(in root: SharedDescriptor) throws(SystemError) {
    let writer = CorpusWriter(root: root)
    var random = SeededRandom(seed: seed ^ UInt64(kind.rawValue.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
    let text = TextMaker(seed: random.next())
    switch kind {
    case .tiny: try makeTiny(writer, text, &random)
    case .huge: try makeHuge(writer, text, &random)
    case .text: try makeText(writer, text, &random)
    case .random: try makeRandom(writer, &random)
    case .sparse: try makeSparse(writer, text, &random)
    case .container: try makeContainer(writer, text, &random)
    }
    try CorpusWriter.settleDirectories(of: root)
  }

  private static let pieceByteCount = 1 << 20

  private func makeTiny(
    _ writer: CorpusWriter, _ text: TextMaker, _ random: inout SeededRandom
  ) throws(SystemError) {
    var number = 0
    while writer.contentByteCount < byteCount {
      let name = "group-\(number / 2000)/item-\(number / 100)/file-\(number).txt"
      try writer.file(name, text.bytes(random.skewed(below: 6000), &random))
      number += 1
    }
  }

  private func makeHuge(
    _ writer: CorpusWriter, _ text: TextMaker, _ random: inout SeededRandom
  ) throws(SystemError) {
    var state = random
    for (name, share) in [("mostly-text.bin", 10), ("mostly-random.bin", 2)] {
      try writer.file(name) { write throws(SystemError) in
        var left = byteCount / 2
        while left > 0 {
          let count = min(left, Self.pieceByteCount)
          try write(state.below(12) < share ? text.bytes(count, &state) : state.bytes(count))
          left -= count
        }
      }
    }
  }

  private func makeText(
    _ writer: CorpusWriter, _ text: TextMaker, _ random: inout SeededRandom
  ) throws(SystemError) {
    var number = 0
    while writer.contentByteCount < byteCount {
      let path = "part-\(random.below(12))/section-\(random.below(20))/note-\(number).\(number % 3 == 0 ? "md" : "c")"
      try writer.file(path, text.bytes(200 + random.skewed(below: 120_000), &random))
      number += 1
    }
    try writer.symlink("latest", to: "part-0")
  }

  private func makeRandom(_ writer: CorpusWriter, _ random: inout SeededRandom) throws(SystemError) {
    var number = 0
    while writer.contentByteCount < byteCount {
      try writer.file("album-\(number / 40)/picture-\(number).jpg", random.bytes(20_000 + random.below(4 << 20)))
      number += 1
    }
  }

  private func makeSparse(
    _ writer: CorpusWriter, _ text: TextMaker, _ random: inout SeededRandom
  ) throws(SystemError) {
    let extent = 256 << 10
    let fileCount = max(1, byteCount / (8 * extent))
    for number in 0..<fileCount {
      var data: [(offset: Int64, bytes: [UInt8])] = []
      var offset: Int64 = 0
      for part in 0..<8 {
        offset += Int64(1 + random.below(512)) * 4096
        let bytes = part % 2 == 0 ? text.bytes(extent, &random) : random.bytes(extent)
        data.append((offset, bytes))
        offset += Int64(extent)
      }
      try writer.sparseFile("disk-\(number).img", byteCount: offset + Int64(random.below(1 << 22)), data: data)
    }
  }

  private func makeContainer(
    _ writer: CorpusWriter, _ text: TextMaker, _ random: inout SeededRandom
  ) throws(SystemError) {
    var state = random
    try writer.file("Library/Application Support/notes.sqlite") { write throws(SystemError) in
      // Pages of a database: a header, records with text, some free space.
      for page in 0..<max(1, byteCount / 2 / 4096) {
        var bytes = withHeader(page: page, &state)
        bytes += text.bytes(2200 + state.below(1500), &state)
        bytes += [UInt8](repeating: 0, count: 4096 - bytes.count)
        try write(bytes)
      }
    }
    random = state
    for number in 0..<40 {
      let preferences = Array("<plist><dict><key>name-\(number)</key><string>".utf8) + text.bytes(800, &random)
      try writer.file("Library/Preferences/org.example.part-\(number).plist", preferences)
    }
    var number = 0
    while writer.contentByteCount < byteCount {
      if number % 4 == 0 {
        try writer.file("Documents/Photos/IMG_\(number).jpg", random.bytes(60_000 + random.below(1 << 20)))
      } else {
        let path = "Documents/Notes/note-\(number).json"
        try writer.file(path, Array("{\"text\":\"".utf8) + text.bytes(500 + random.skewed(below: 30_000), &random))
      }
      number += 1
    }
    try writer.symlink("Documents/Newest", to: "Notes")
  }

  private func withHeader(page: Int, _ random: inout SeededRandom) -> [UInt8] {
    var header: [UInt8] = [0x0D, 0, 0, UInt8(truncatingIfNeeded: page >> 8), UInt8(truncatingIfNeeded: page)]
    header += random.bytes(64)
    return header
  }
}
