import Foundation
import TestSupport
import Testing

/// What is left of damaged archives: everything in healthy chunks, never a wrong byte, and every loss is named.
@Suite struct SalvageTests {
  /// An archive "a" of "src": groups of small files, a file of several chunks, links, an empty directory.
  private func stage() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory(.memory)
    try Starc.expectSuccess(
      """
      mkdir -p src/d src/empty; cd src
      for i in $(seq 60); do seq $i $((i * 40 + 500)) > d/text$i; done; head -c 700000 /dev/urandom > big
      for i in $(seq 20); do head -c 9000 /dev/urandom > random$i; done; ln -s big link; ln d/text7 hard; cd ..
      $S create -q --no-sync --chunk-size 64K a src
      """, directory: directory.path)
    return directory
  }

  private struct Salvage {
    var status: Int32
    var losses: String
    /// Files that are not there.
    var missing: [String]
  }

  /// Salvages "f" and compares what came out with the source: whatever is there has to be right.
  private func salvage(in directory: TemporaryDirectory, pipe: Bool = false) throws -> Salvage {
    let result = try Starc.script(
      """
      rm -rf out; $S salvage --no-sync \(pipe ? "- out < <(cat f)" : "f out") > losses 2> errors; echo $? > status
      mkdir -p out/src; (cd src; find . -type f -print; find . -type l -print) | sort > names
      (cd out/src; find . -type f -print; find . -type l -print) | sort > restored
      while read -r name; do
        if [ -L src/$name ]; then [ "$(readlink src/$name)" = "$(readlink out/src/$name)" ]; else cmp src/$name out/src/$name; fi || exit 50
      done < restored
      comm -13 names restored | grep -q . && exit 51; comm -23 names restored; cat losses errors >&2; exit 0
      """, directory: directory.path)
    #expect(result.status == 0, "\(result.errorText)")
    let status = try String(contentsOfFile: directory.file("status"), encoding: .utf8)
    return Salvage(
      status: Int32(status.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1, losses: result.errorText,
      missing: String(decoding: result.output, as: UTF8.self).split(separator: "\n").map { String($0.dropFirst(2)) })
  }

  /// Offsets of the frames of our index, by kind, in the archive.
  private func indexFrames(_ bytes: [UInt8]) -> [(kind: UInt8, range: Range<Int>)] {
    var frames: [(UInt8, Range<Int>)] = []
    let magic: [UInt8] = [0x5D, 0x2A, 0x4D, 0x18]
    var position = 0
    while position + 16 <= bytes.count {
      if bytes[position] == magic[0], Array(bytes[position..<position + 4]) == magic,
        Array(bytes[position + 8..<position + 12]) == Array("STIX".utf8)
      {
        let count = (0..<4).reduce(0) { $0 | Int(bytes[position + 4 + $1]) << ($1 * 8) } + 8
        frames.append((bytes[position + 12], position..<position + count))
        position += count
      } else {
        position += 1
      }
    }
    return frames
  }

  @Test(arguments: [false, true]) func aHealthyArchiveComesBackWhole(pipe: Bool) throws {
    let directory = try stage()
    try FileTree.write(FileTree.read(directory.file("a")), to: directory.file("f"))
    let result = try salvage(in: directory, pipe: pipe)
    #expect(result.status == 0 && result.missing.isEmpty, "\(result.losses)")
    #expect(result.losses.contains("nothing is lost"))
  }

  /// One damaged byte loses the members of its chunk at the most: those that `verify` names.
  @Test func aDamagedChunkLosesItsMembersOnly() throws {
    let directory = try stage()
    let whole = try FileTree.read(directory.file("a"))
    let index = indexFrames(whole)
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    for _ in 0..<8 {
      var damaged = whole
      var place = Int(random.next() % UInt64(whole.count))
      while index.contains(where: { $0.range.contains(place) }) { place = Int(random.next() % UInt64(whole.count)) }
      damaged[place] ^= 1 << (random.next() % 8)
      try FileTree.write(damaged, to: directory.file("f"))
      let named = try Starc.script("$S verify f; exit 0", directory: directory.path)
      let touched = String(decoding: named.output, as: UTF8.self) + named.errorText
      let result = try salvage(in: directory)
      #expect(result.status == 1 || result.missing.isEmpty, "byte \(place)")
      for name in result.missing where name != "hard" {
        #expect(touched.contains(name), "byte \(place): \(name) was in a healthy chunk")
        #expect(result.losses.contains(name), "byte \(place): \(name) is lost and not named")
      }
    }
  }

  @Test(arguments: [false, true]) func withoutTheEndOfTheFile(pipe: Bool) throws {
    let directory = try stage()
    let whole = try FileTree.read(directory.file("a"))
    let pages = indexFrames(whole).filter { $0.kind == 2 }
    let root = try #require(indexFrames(whole).first { $0.kind == 3 })
    // Directory, root and seek table are gone: nothing else is.
    try FileTree.write(Array(whole[..<root.range.lowerBound]), to: directory.file("f"))
    let indexless = try salvage(in: directory, pipe: pipe)
    #expect(indexless.missing.isEmpty && indexless.status == 0, "\(indexless.losses)")
    // Cut behind a page: what comes before it is there.
    let middle = pages[pages.count / 2]
    try FileTree.write(Array(whole[..<middle.range.upperBound]), to: directory.file("f"))
    let cut = try salvage(in: directory, pipe: pipe)
    #expect(cut.missing.count < 82 && !cut.missing.isEmpty)
    #expect(cut.status == 1 && cut.losses.contains("the end of the archive is missing"))
    // Cut within the page's chunks: their tar headers do.
    try FileTree.write(Array(whole[..<middle.range.lowerBound]), to: directory.file("f"))
    let headers = try salvage(in: directory, pipe: pipe)
    #expect(headers.missing == cut.missing, "\(headers.losses)")
  }

  @Test func withoutTheBeginningOfTheFile() throws {
    let directory = try stage()
    let whole = try FileTree.read(directory.file("a"))
    let pages = indexFrames(whole).filter { $0.kind == 2 }
    for start in [1, 100, pages[1].range.upperBound, pages[1].range.upperBound + 10] {
      try FileTree.write(Array(whole[start...]), to: directory.file("f"))
      let result = try salvage(in: directory)
      #expect(result.status == 1)
      #expect(result.missing.count < 40, "from \(start): \(result.losses)")
    }
  }

  @Test func withoutAnyPage() throws {
    let directory = try stage()
    var bytes = try FileTree.read(directory.file("a"))
    for frame in indexFrames(bytes) where frame.kind == 2 {
      for place in frame.range.dropFirst(20) { bytes[place] = 0 }
    }
    try FileTree.write(bytes, to: directory.file("f"))
    let result = try salvage(in: directory)
    #expect(result.missing.isEmpty, "\(result.losses)")
    #expect(result.status == 1 && result.losses.contains("index page"))
    // The magic is gone too: only data frames are left.
    for frame in indexFrames(bytes) { for place in frame.range { bytes[place] = 0 } }
    try FileTree.write(bytes, to: directory.file("f"))
    let bare = try salvage(in: directory)
    #expect(bare.missing.count < 82)
  }

  /// Every sixteenth kibibyte is zero: a disk with bad blocks.
  @Test func manyHoles() throws {
    let directory = try stage()
    var bytes = try FileTree.read(directory.file("a"))
    for start in stride(from: 60_000, to: bytes.count - 1024, by: 150_000) {
      for place in start..<start + 1024 { bytes[place] = 0 }
    }
    try FileTree.write(bytes, to: directory.file("f"))
    let result = try salvage(in: directory)
    #expect(result.status == 1)
    #expect(result.missing.count < 82, "\(result.losses)")
    for name in result.missing where name != "hard" { #expect(result.losses.contains(name), "\(name)") }
  }

  /// Files in which every few bytes a frame begins that is none: the search ends all the same, and soon.
  @Test(arguments: [
    "m + b'\\0X' + block(7)", "m + b'\\0X' + block(100000)", "m + b'\\0X' + block(1 << 16, 1) + b'a'",
    "block(4) + m", "block(6) + m + b'\\0X'", "b'\\x5d\\x2a\\x4d\\x18' + struct.pack('<I', 1000000)",
  ]) func framesThatAreNone(_ unit: String) throws {
    let directory = try TemporaryDirectory(.memory)
    try Starc.expectSuccess(
      """
      python3 -c "import struct
      m = b'\\x28\\xb5\\x2f\\xfd'
      def block(count, kind=0): return struct.pack('<I', count << 3 | kind << 1)[:3]
      unit = \(unit)
      open('f', 'wb').write(m + b'\\0X' + unit * (2000000 // len(unit)))"
      code=0; timeout 60 $S salvage --no-sync f out > losses 2> errors || code=$?
      test $code = 1 -o $code = 2; test -s errors -o -s losses
      """, directory: directory.path)
  }

  @Test func archivesOfOthersUpToTheDamage() throws {
    let directory = try stage()
    try Starc.expectSuccess("tar -cf t src; head -c 500000 t > f", directory: directory.path)
    let tar = try salvage(in: directory)
    #expect(tar.status == 1 && !tar.missing.isEmpty && tar.missing.count < 82)
    try Starc.expectSuccess("zstd -qc t > z; head -c 300000 z > f", directory: directory.path)
    let zstd = try salvage(in: directory)
    #expect(zstd.status == 1 && !zstd.missing.isEmpty)
  }
}
