internal import Foundation
internal import TestSupport
internal import Testing

/// An archive that asks for far more than it holds, and what may come of it.
struct HostileArchive: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Makes the archive "f".
  var make: @Sendable (FailureModeStage) throws -> Void
  /// How commands other than `salvage` may end.
  var statuses: Set<Int32> = [2]
  /// The most that may be resident, in MiB: what the tool itself takes and a little.
  var mebibytes = 64
  var options: [String] = []
  /// For an archive over which a run takes seconds: these commands only.
  var verbs: Set<String>?

  static func bytes(
    _ name: String, statuses: Set<Int32> = [2], mebibytes: Int = 64, verbs: Set<String>? = nil,
    _ archive: @escaping @Sendable () -> [UInt8]
  ) -> HostileArchive {
    HostileArchive(
      testDescription: name, make: { try $0.write(archive(), "f") }, statuses: statuses, mebibytes: mebibytes,
      verbs: verbs)
  }

  static func script(
    _ name: String, statuses: Set<Int32>, mebibytes: Int = 64, options: [String] = [], verbs: Set<String>? = nil,
    _ text: String, with part: @escaping @Sendable () -> [UInt8] = { [] }
  ) -> HostileArchive {
    HostileArchive(
      testDescription: name,
      make: { stage in
        try stage.write(part(), "part")
        try Shell.script(text, directory: stage.path)
      }, statuses: statuses, mebibytes: mebibytes, options: options, verbs: verbs)
  }
}

/// Nothing that an archive announces takes memory or time: each is tried with every command, from a file and a pipe. The index has
/// such tests of its own.
@Suite struct HostileSizeTests {
  /// Commands, for an archive and a name that each run has for itself.
  private static let verbs: [(name: String, arguments: @Sendable (_ archive: String, _ out: String) -> [String])] = [
    ("list", { archive, _ in ["list", archive] }), ("verify", { archive, _ in ["verify", archive] }),
    ("quick", { archive, _ in ["verify", "--quick", archive] }), ("info", { archive, _ in ["info", archive] }),
    ("cat", { archive, _ in ["cat", archive, "x"] }), ("compare", { archive, _ in ["compare", archive, "tree"] }),
    ("extract", { ["extract", "--no-sync", $0, $1] }), ("salvage", { ["salvage", "--no-sync", $0, $1] }),
  ]

  private func check(_ archive: HostileArchive) throws {
    let stage = try FailureModeStage()
    try Shell.script("mkdir tree", directory: stage.path)
    try archive.make(stage)
    let verbs = Self.verbs.filter { archive.verbs?.contains($0.name) != false }
    let ways = verbs.flatMap { verb in [(verb, "file"), (verb, "pipe")] }
    let runs = try Measured.runs(
      ways.map { verb, way in
        let isPiped = way == "pipe"
        let options = ["--threads", "4"] + archive.options
        return (verb.arguments(isPiped ? "-" : "f", "\(verb.name)-\(way)") + options, isPiped ? "f" : nil)
      }, directory: stage.path)
    #expect(runs.count == ways.count)
    for ((verb, way), run) in zip(ways, runs) {
      let how = "\(verb.name) from a \(way): exit \(run.status), \(run.errors)"
      // A member before the fault may well be given out, and a salvage ends with what it has found.
      let others: [String: Set<Int32>] = ["cat": [0, 1, 2], "salvage": [0, 1, 2]]
      #expect(archive.statuses.union(others[verb.name] ?? []).contains(run.status), "\(how)")
      #expect(run.kibibytes < archive.mebibytes << 10 || Sanitizer.isOn, "\(how), \(run.kibibytes) KiB")
      // Of the processor's time: how long it waits for one is the machine's affair.
      #expect(run.seconds < 10, "\(how), \(run.seconds) s")
      if verb.name == "extract", run.status == 2 {
        #expect(!FileManager.default.fileExists(atPath: "\(stage.path)/extract-\(way)"), "\(how)")
      }
    }
    try Shell.script("chmod -R u+rwx extract-* salvage-* 2> /dev/null || true", directory: stage.path)
  }

  @Test(arguments: tars) func announcedInTarHeaders(_ archive: HostileArchive) throws { try check(archive) }

  @Test(arguments: frames) func announcedInFrames(_ archive: HostileArchive) throws { try check(archive) }

  @Test(arguments: masses) func reallyThere(_ archive: HostileArchive) throws { try check(archive) }

  private static let some = Tar.entry("x", "1")

  static let tars: [HostileArchive] =
    (["x", "g", "L", "K"] as [Character]).map { type in
      .bytes("8 GiB of extended header \(type)") { some + Tar.Header(name: "p", size: 8 << 30, type: type).block }
    } + [
      .bytes("a file of 2^60 bytes") { some + Tar.Header(name: "x", size: (1 << 60) - 512).block },
      .bytes("sparse files of more than 2^64 bytes in all", statuses: [0, 1, 2]) {
        (0..<17).flatMap { Tar.sparse("0\n", "", size: "1152921504606846976", name: Bytes("x\($0)")) } + Tar.end
      },
      // A list shows that the member is refused.
      .bytes("a sparse map of 10^11 extents", statuses: [1, 2]) {
        Tar.sparse(Bytes("99999999999\n" + String(repeating: "0\n0\n", count: 1000)), "", size: "1099511627776")
          + Tar.end
      },
      .bytes("a sparse map of a million extents that are not there", statuses: [1, 2]) {
        Tar.sparse(Bytes("1000000\n" + String(repeating: "0\n0\n", count: 1000)), "", size: "1099511627776") + Tar.end
      },
      .bytes("an attribute of 8 GiB", statuses: [1, 2]) {
        Tar.rawPax("8589934592 SCHILY.xattr.user.a=\n") + some + Tar.end
      },
    ]

  /// A zstd frame from its header on.
  private static func frame(_ header: [UInt8], _ rest: [UInt8] = []) -> [UInt8] {
    [0x28, 0xB5, 0x2F, 0xFD] + header + rest
  }

  private static func littleEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
  }

  /// The tar of one file as a frame of raw blocks.
  private static let good =
    frame([0x60] + littleEndian(UInt64(512 + 512 + 1024 - 256), 2))
    + littleEndian(UInt64(2048 << 3 | 1), 3) + Tar.entry("x", "1") + Tar.end

  static let frames: [HostileArchive] =
    [("2^31", 21), ("2^41", 31)].map { name, exponent in
      .bytes("a window of \(name) bytes") { frame([0x00, UInt8(exponent << 3)], [1, 0, 0]) }
    } + [
      .bytes("content of 2^62 bytes in one segment") { frame([0xE0] + littleEndian(1 << 62, 8), [1, 0, 0]) },
      .bytes("content of 2^32 bytes that does not come") {
        frame([0x80, 0x50] + littleEndian(0xFFFF_FFFF, 4), [1, 0, 0])
      },
      .bytes("content of 10 MiB that does not come") { frame([0xA0] + littleEndian(10 << 20, 4), [1, 0, 0]) },
      .bytes("a block of 2 MiB") { frame([0x00, 0x50], littleEndian(0x1F_FFFF << 3 | 1, 3)) },
      .bytes("4 GiB of skippable frame") { good + littleEndian(0x184D_2A50, 4) + littleEndian(0xFFFF_FFF0, 4) },
    ]
    + [1, 2, 3, 4].map { kind in
      .bytes("4 GiB of index frame of kind \(kind)") {
        good + littleEndian(0x184D_2A5D, 4) + littleEndian(0xFFFF_FFF0, 4) + Array("STIX".utf8)
          + [UInt8(kind), 1, 0, 0] + [UInt8](repeating: 0, count: 1000)
      }
    }
    + [("2^27", 1 << 27), ("2^32 - 1", (1 << 32) - 1)].map { name, count in
      // A table that cannot be there is none, and its frame is passed over.
      .bytes("a seek table of \(name) frames", statuses: [0, 1, 2]) {
        good + littleEndian(0x184D_2A5E, 4) + littleEndian(9, 4) + littleEndian(count, 4) + [0]
          + littleEndian(0x8F92_EAB1, 4)
      }
    }

  /// An archive of ours whose index goes on with frames of one kind that hold nothing sensible.
  private static func repeatIndexFrame(kind: UInt8, byteCount: Int, count: Int, in stage: FailureModeStage) throws {
    try Shell.script("printf 1 > x; '\(Starc.path)' create -q --no-sync ours x", directory: stage.path)
    let ours = try FileTree.read(stage.path + "/ours")
    let magic = littleEndian(0x184D_2A5D, 4)
    let start = try #require(
      (0..<ours.count - 16).first { Array(ours[$0..<$0 + 4]) == magic && ours[$0 + 12] == kind })
    try stage.write(Array(ours[..<start]), "part")
    try stage.write(
      magic + littleEndian(UInt64(byteCount), 4) + Array("STIX".utf8) + [kind, 1, 0, 0]
        + [UInt8](repeating: 0, count: byteCount - 8), "frame")
    try Shell.script("cat part > f; for i in $(seq \(count)); do cat frame; done >> f", directory: stage.path)
  }

  /// What is really there, and more than fits into memory.
  static let masses: [HostileArchive] = [
    .script(
      "a root of 32 MiB", statuses: [1, 2], mebibytes: 96,
      "cp part f; truncate -s 40000000 f; printf '\\000\\000\\000\\002STIXROOT' >> f", with: { good }),
    // Nothing says that this is no archive of ours whose index comes later.
    .script(
      "an attribute of a mebibyte for each of 120 members", statuses: [1],
      "for i in $(seq 120); do cat part; done | zstd -qc > f",
      with: {
        Tar.pax(("SCHILY.xattr.user.a", Bytes(repeating: "a", count: (1 << 20) - 100))) + Tar.entry("x", "1")
      }),
    .script(
      "10,000 global headers with a time that is none of any file", statuses: [0, 1, 2],
      "for i in $(seq 100); do for j in 1 2 3 4 5 6 7 8 9 10; do cat part part part part part part part part part part; done; done > f; cat part >> f",
      with: { Tar.pax(("mtime", "99999999999999999999"), type: "g") }),
    .bytes("as many attributes as a header holds", statuses: [0, 1], verbs: ["list", "extract"]) {
      let records = (0..<40_000).flatMap { Tar.record(Bytes("SCHILY.xattr.u.\($0)"), "") }
      return Tar.rawPax(Bytes(records)) + some + Tar.end
    },
    .bytes("blocks of a sparse map without end", verbs: ["list", "extract", "salvage"]) {
      let header = Tar.entry("s", type: "S") {
        $0.magic = "ustar  \u{0}"
        $0.patches = [
          (386, Bytes(Tar.number(0, 12) + Tar.number(1, 12))), (482, "\u{1}"), (483, Bytes(Tar.number(1 << 40, 12))),
        ]
      }
      var block = [UInt8](repeating: 0, count: 512)
      for index in 0..<21 {
        block.replaceSubrange(24 * index..<24 * index + 24, with: Tar.number(1, 12) + Tar.number(1, 12))
      }
      block[504] = 1
      var archive = header
      archive.reserveCapacity(512 * 48_000)
      for _ in 0..<47_700 { archive += block }
      return archive
    },
    HostileArchive(
      testDescription: "100 MiB of directory frames",
      make: { try repeatIndexFrame(kind: 3, byteCount: 1 << 20, count: 100, in: $0) }),
    HostileArchive(
      testDescription: "a directory frame of 60 MiB",
      make: { try repeatIndexFrame(kind: 3, byteCount: 60 << 20, count: 1, in: $0) }),
    HostileArchive(
      testDescription: "10 pages of 12 MiB",
      make: { try repeatIndexFrame(kind: 2, byteCount: 12 << 20, count: 10, in: $0) },
      mebibytes: 32 + 32, options: ["--memory-limit", "32M"]),
    // Buffers for frames, and then a window that may take all that is allowed.
    .script(
      "whole frames and then a large window", statuses: [0, 1], mebibytes: 128 + 32,
      verbs: ["list", "verify", "extract"],
      """
      truncate -s 250000000 tail; cat part tail > whole
      for i in 0 1 2 3 4 5 6 7; do dd if=whole bs=9M skip=$i count=1 status=none > p; zstd -qc p; done > f
      tail -c +$((9 * 8 * 1048576 + 1)) whole | zstd -qc --long=27 --no-content-size >> f
      """, with: { Tar.Header(name: "x", size: 249_998_464).block }),
    .script(
      "frames that fill more than is allowed", statuses: [0, 1], mebibytes: 16 + 32,
      options: ["--memory-limit", "16M"],
      verbs: ["list", "verify", "extract"],
      """
      head -c 44998656 /dev/urandom > tail; truncate -s 44999680 tail; cat part tail > whole; rm tail
      for i in 0 1 2 3 4; do dd if=whole bs=9M skip=$i count=1 status=none > p; zstd -qc p; done > f; rm whole p
      """, with: { Tar.Header(name: "x", size: 44_998_656).block }),
    .bytes("a name of a hundred thousand directories", statuses: [0, 2], verbs: ["list", "verify", "extract"]) {
      Tar.long(Bytes(Array(repeatElement(Array("d/".utf8), count: 100_000).joined()) + [0x78])) + Tar.entry("x", "1")
        + Tar.end
    },
  ]
}
