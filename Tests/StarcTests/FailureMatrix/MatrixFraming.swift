internal import ArchiveFormat
internal import Foundation
internal import TestSupport

/// What an archive is put into: frames of all kinds, and files that are no archive.
extension FailureMatrix {
  private static let tar =
    Tar.entry("a", Bytes(repeating: "1", count: 3000)) + Tar.entry("b", "2") + Tar.entry("c", "3") + Tar.end
  private static let tree = ["a=<3000>", "b=2", "c=3"]

  /// One zstd frame with a content checksum.
  private static func frame(_ content: [UInt8], _ options: String...) -> [UInt8] {
    (try? Shell.run(["zstd", "-qc"] + options, input: content).output) ?? []
  }

  private static func filtered(_ content: [UInt8], _ command: String...) -> [UInt8] {
    (try? Shell.run(command, input: content).output) ?? []
  }

  /// The file is read like any other.
  private static func whole(
    _ name: String, status: Int32 = 0, says: String = "", _ make: @escaping @Sendable () -> [UInt8]
  ) -> FailureMode {
    FailureMode(
      testDescription: name, archive: { _ in make() }, strict: .leaves(status, tree), lenient: .leaves(status, tree),
      says: says, isWhole: true)
  }

  /// The file is refused, whoever asks.
  private static func broken(_ name: String, says: String, _ make: @escaping @Sendable () -> [UInt8]) -> FailureMode {
    FailureMode(
      testDescription: name, archive: { _ in make() }, strict: .fails, lenient: .fails, says: says, isWhole: true)
  }

  private static func skippable(_ text: String, _ number: UInt8 = 0) -> [UInt8] { MatrixStage.skippable(text, number) }

  /// The same members as an archive of ours.
  private static var ours: [UInt8] { MatrixStage.indexed(tar) ?? [] }

  /// All frames of our index changed to another version, or kind.
  private static func ours(changing place: Int, to value: UInt8) -> [UInt8] {
    var bytes = ours
    for start in bytes.indices where bytes[start...].starts(with: SkippableFrame.signature) {
      bytes[start + place] = value
    }
    return bytes
  }

  static let index: [FailureMode] = [
    whole("ours") { ours },
    whole("ours: of another version", status: 1, says: "version") { ours(changing: 5, to: 9) },
    whole("ours: frames of another kind", status: 1, says: "version") { ours(changing: 4, to: 9) },
    whole("ours: garbage behind it", status: 1, says: "after the end") { ours + Array("garbage".utf8) },
    broken("ours: twice", says: "") { ours + ours },
    broken("ours: less its last byte", says: "") { ours.dropLast() },
    broken("ours: less its seek table's foot", says: "") { ours.dropLast(9) },
    broken("ours: cut in the index", says: "") { ours.dropLast(120) },
    broken("ours: cut behind the first frame", says: "") {
      let bytes = ours
      let start = bytes.indices.first { bytes[$0...].starts(with: SkippableFrame.signature) } ?? 8
      return Array(bytes[..<(start - 8)])
    },
    broken("ours: a flipped bit in the index", says: "") { flipped(ours, at: ours.count - 100) },
    broken("ours: a byte missing in the middle", says: "") {
      var bytes = ours
      bytes.remove(at: 60)
      return bytes
    },
  ]

  static let framing: [FailureMode] = [
    whole("frames: one") { frame(tar) },
    whole("frames: without checksum") { frame(tar, "--no-check") },
    whole("frames: highest level") { frame(tar, "--ultra", "-22") },
    whole("frames: a window of 128 MiB") { frame(tar, "--long=27") },
    broken("frames: a window of 2 GiB", says: "--memory-limit") { frame(tar, "--long=31") },
    whole("frames: a skippable one first") { skippable("h") + frame(tar) },
    whole("frames: skippable ones everywhere") {
      skippable("", 3) + skippable("x", 15) + frame(Array(tar[..<512])) + skippable("m", 9) + frame(Array(tar[512...]))
        + skippable("e")
    },
    whole("frames: with the magic of a seek table, and none") { frame(tar) + skippable("not a seek table", 14) },
    whole("frames: with the magic of our index, and none") { frame(tar) + skippable("not an index", 13) },
    whole("frames: an empty one between") { frame(Array(tar[..<700])) + frame([]) + frame(Array(tar[700...])) },
    whole("frames: of one byte each") { (0..<40).flatMap { frame([tar[$0]]) } + frame(Array(tar[40...])) },
    whole("frames: of one block each") {
      stride(from: 0, to: tar.count, by: 512).flatMap { frame(Array(tar[$0..<min(tar.count, $0 + 512)])) }
    },
    whole("garbage behind the frames", status: 1, says: "after the end") { frame(tar) + Array("garbage".utf8) },
    whole("three bytes behind the frames", status: 1, says: "after the end") { frame(tar) + Array("gar".utf8) },
    whole("zeros behind the frames", status: 1, says: "after the end") { frame(tar) + [UInt8](repeating: 0, count: 3) },
    whole("a plain tar behind the frames", status: 1, says: "after the end") { frame(tar) + tar },
    whole("frames behind a plain tar", status: 1, says: "after the end") { tar + frame(tar) },
    whole("a second archive in frames of its own", status: 1, says: "after the end") { frame(tar) + frame(tar) },
    broken("garbage between frames", says: "zstd frame") {
      frame(Array(tar[..<512])) + Array("garbage".utf8) + frame(Array(tar[512...]))
    },
    broken("a skippable frame beyond the end", says: "skippable") {
      frame(tar) + [0x50, 0x2A, 0x4D, 0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x78]
    },
    broken("a skippable frame without its size", says: "frame header") { frame(tar) + [0x50, 0x2A, 0x4D, 0x18, 9] },
    broken("nothing but a skippable frame", says: "no tar") { skippable("x") },
    broken("an empty frame and nothing more", says: "no tar") { frame([]) },
    broken("a frame with a dictionary", says: "dictionary 7") { [0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 0, 1, 0, 0] },
    broken("a frame with a reserved bit", says: "reserved") {
      var bytes = frame(tar)
      bytes[4] |= 8
      return bytes
    },
    broken("a frame without its magic", says: "neither") { Array(frame(tar).dropFirst(4)) },
    broken("an old zstd format", says: "neither") { [0x27, 0xB5, 0x2F, 0xFD] + [UInt8](repeating: 1, count: 600) },
    broken("zstd in zstd", says: "once more") { frame(frame(tar + randomBytes)) },
    broken("gzip in zstd", says: "gzip") { frame(filtered(tar + randomBytes, "gzip", "-c")) },
    broken("text in zstd", says: "no tar") { frame(Array(String(repeating: "hello ", count: 300).utf8)) },
    broken("a little text in zstd", says: "no tar") { frame(Array("hello".utf8)) },
    broken("gzip", says: "gzip -d") { filtered(tar, "gzip", "-c") },
    broken("xz", says: "xz -d") { filtered(tar, "xz", "-c") },
    broken("bzip2", says: "bzip2 -d") { filtered(tar, "bzip2", "-c") },
    broken("zip", says: "unzip") { Array("PK\u{3}\u{4}".utf8) + [UInt8](repeating: 0, count: 600) },
    broken("cpio", says: "cpio") { Array("070701".utf8) + [UInt8](repeating: 0x30, count: 600) },
    broken("7z", says: "7z") { [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C] + [UInt8](repeating: 0, count: 600) },
    broken("an empty file", says: "empty") { [] },
    broken("one byte", says: "neither") { [0x78] },
    broken("text", says: "neither") { Array(String(repeating: "hello ", count: 300).utf8) },
    broken("a hundred zeros", says: "neither") { [UInt8](repeating: 0, count: 100) },
    broken("a header less one byte", says: "neither") { Array(Tar.entry("a").prefix(511)) },
  ]

  /// Does not shrink, so that what is made of it is longer than a tar header.
  private static var randomBytes: [UInt8] {
    var random = SplitMix64(seed: 3)
    return random.bytes(2000)
  }

  private static func flipped(_ bytes: [UInt8], at place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[place] ^= 0x40
    return bytes
  }

  static let damage: [FailureMode] = [
    broken("a frame cut in the middle", says: "ends within") { Array(frame(tar).prefix(50)) },
    broken("a frame less its last byte", says: "ends within") { frame(tar).dropLast() },
    broken("a frame cut in its magic", says: "neither") { Array(frame(tar).prefix(3)) },
    broken("a wrong checksum of a frame", says: "checksum") { flipped(frame(tar), at: frame(tar).count - 1) },
    broken("a flipped bit in a frame", says: "") { flipped(frame(tar), at: 20) },
    broken("a second frame cut", says: "ends within") {
      frame(Array(tar[..<1000])) + frame(Array(tar[1000...])).dropLast(9)
    },
    broken("a tar cut in the data", says: "ends within the data") { Array(tar.prefix(1000)) },
    broken("a tar cut in the padding", says: "ends within the data") { Array(tar.prefix(512 + 3000 + 10)) },
    broken("a tar cut in a header", says: "header") { Array(tar.prefix(512 + 3072 + 100)) },
    broken("a compressed tar cut in the data", says: "ends within the data") { frame(Array(tar.prefix(1000))) },
    broken("a compressed tar cut in a header", says: "header") { frame(Array(tar.prefix(512 + 3072 + 100))) },
  ]
}
