internal import TestSupport
internal import Testing

/// Members that take each other's names, links in any order, and what is not made as a rule.
@Suite struct FailureModesCollisionTests {
  static let sameNames: [FailureMode] = [
    .accepted("three files of a name: the last counts", makes: ["f=333"], names: ["f", "f", "f"]) { _ in
      [Tar.entry("f", "1"), Tar.entry("f", "22"), Tar.entry("f", "333")]
    },
    .accepted("a file, then a directory", makes: ["f/", "f/c=2"]) { _ in
      [Tar.entry("f", "1"), Tar.directory("f/"), Tar.entry("f/c", "2")]
    },
    .accepted("an empty directory, then a file", makes: ["f=1"]) { _ in [Tar.directory("f/"), Tar.entry("f", "1")] },
    .accepted("and a directory again", makes: ["f/", "f/c=3"]) { _ in
      [Tar.directory("f/"), Tar.entry("f", "1"), Tar.directory("f/"), Tar.entry("f/c", "3")]
    },
    .refused("a full directory, then a file", says: "not empty", leaves: ["f/", "f/c=2"]) { _ in
      [Tar.entry("f/c", "2"), Tar.entry("f", "1")]
    },
    .refused("a member below a file", says: "lies below \"f\"", leaves: ["f=1"]) { _ in
      [Tar.entry("f", "1"), Tar.entry("f/c", "2"), Tar.directory("f/d/")]
    },
    .accepted("a directory twice: the last mode counts", makes: ["d/", "d/f=1"]) { _ in
      [Tar.directory("d/", mode: 0o555), Tar.entry("d/f", "1"), Tar.directory("d/", mode: 0o700)]
    },
  ]

  static let hardLinks: [FailureMode] = [
    .accepted("a link before its target", makes: ["f=1 2", "h=1 2"]) { _ in
      [Tar.hardLink("h", to: "f"), Tar.entry("f", "1")]
    },
    .accepted("links to links", makes: ["f=1 3", "g=1 3", "h=1 3"]) { _ in
      [Tar.hardLink("h", to: "g"), Tar.hardLink("g", to: "f"), Tar.entry("f", "1")]
    },
    .refused("a link to what is not there", says: "is not a file", leaves: ["a=1"]) { _ in
      [Tar.entry("a", "1"), Tar.hardLink("h", to: "f")]
    },
    .refused("a link to a directory", says: "is not a file", leaves: ["f/"]) { _ in
      [Tar.directory("f/"), Tar.hardLink("h", to: "f")]
    },
    .accepted("a link keeps the file that its target's name had", makes: ["f=22", "h=1"]) { _ in
      [Tar.entry("f", "1"), Tar.hardLink("h", to: "f"), Tar.entry("f", "22")]
    },
    .accepted("a link in place of a file", makes: ["f=2 2", "g=2 2"]) { _ in
      [Tar.entry("f", "1"), Tar.entry("g", "2"), Tar.hardLink("f", to: "g")]
    },
    .refused("links in a circle come to an end", says: "which is not a file", leaves: []) { _ in
      [Tar.hardLink("h", to: "g"), Tar.hardLink("g", to: "h"), Tar.hardLink("i", to: "i")]
    },
  ]

  static let nodes: [FailureMode] = [
    .accepted("devices are left out", status: 1, says: "device node", makes: ["after=1", "fifo|"]) { _ in
      [
        Tar.entry("null", type: "3") { $0.device = (1, 3) }, Tar.entry("disk", type: "4") { $0.device = (8, 0) },
        Tar.entry("fifo", type: "6"), Tar.entry("after", "1"),
      ]
    }
  ]

  /// A directory that was replaced is not written into, though whoever makes files was in it: for one that could not be made.
  @Test(arguments: [1, 8]) func aDirectoryThatTookTheNameOfAnother(threads: Int) throws {
    let stage = try FailureModeStage()
    let long = Tar.long(Bytes("f/" + String(repeating: "n", count: 256)))
    try stage.write(
      Tar.entry("t", "1") + Tar.directory("f/") + long + Tar.entry("x", "2") + Tar.hardLink("f", to: "t")
        + Tar.directory("f/") + Tar.entry("f/c", "3") + Tar.end, "f.tar")
    let result = try stage.run(["extract", "--lenient", "--no-sync", "--threads", "\(threads)", "f.tar", "out"])
    #expect(result.status == 1, "\(result.errorText)")
    #expect(try stage.tree() == ["f/", "f/c=3", "t=1"], "\(result.errorText)")
  }

  // MARK: Ends

  static let ends: [FailureMode] = [
    .accepted("no end blocks", status: 1, says: "end blocks", makes: ["a=1"], endsWith: []) { _ in
      [Tar.entry("a", "1")]
    },
    .accepted("one end block", status: 1, says: "end blocks", makes: ["a=1"], endsWith: Array(Tar.end.prefix(512))) {
      _ in [Tar.entry("a", "1")]
    },
    .accepted("many end blocks", makes: ["a=1"], endsWith: [UInt8](repeating: 0, count: 102_400)) { _ in
      [Tar.entry("a", "1")]
    },
    .accepted("a member behind an end block", status: 1, says: "after the end", makes: ["a=1"], names: ["a"]) { _ in
      [Tar.entry("a", "1"), Array(Tar.end.prefix(512)), Tar.entry("b", "2")]
    },
    .accepted("two archives", status: 1, says: "after the end", makes: ["a=1"], names: ["a"]) { _ in
      [Tar.entry("a", "1"), Tar.end, Tar.entry("b", "2")]
    },
    .accepted("only end blocks: an empty archive", makes: [], names: []) { _ in [] },
    .accepted("text behind the end", status: 1, says: "after the end", makes: ["a=1"], endsWith: Tar.end + [0x78]) {
      _ in [Tar.entry("a", "1")]
    },
    .damaged("an extended header without a member", says: "") { _ in
      [Tar.entry("a", "1"), Tar.pax(("path", "b")), Array(Tar.entry("x", "1").prefix(300))]
    },
  ]

  /// What follows the last frame and is none is data after the end, in foreign archives and in our own; unless the
  /// archive had not come to its end.
  @Test(arguments: ["garbage", "0", "gar", "(", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"])
  func bytesBehindTheLastFrame(_ extra: String) throws {
    let stage = try FailureModeStage()
    try stage.write(Tar.entry("a", "1") + Tar.end, "whole.tar")
    try stage.write(Tar.entry("a", "1"), "open.tar")
    try stage.write(Array(extra.utf8), "extra")
    let script = """
      mkdir s; echo 1 > s/a; $S create -q --no-sync ours s; zstd -qc whole.tar > whole; zstd -qc open.tar > open
      head -c -8 ours > cut
      for f in ours whole open cut; do
        cat $f extra > f
        for command in "list f" "verify f" "extract --no-sync f out" "list -" "verify -" "extract --no-sync - out"; do
          $S $command > /dev/null 2> errors < <(cat f); echo "$f $? $(ls out 2> /dev/null | wc -l) $command"; rm -rf out
        done
      done
      """
    // What is short and a frame's magic begins with may be the beginning of a frame that is cut.
    let isShort = extra == "("
    for line in try Starc.script(script, directory: stage.path).outputText.split(separator: "\n") {
      let words = line.split(separator: " ")
      let isWhole = words[0] == "whole" || words[0] == "ours"
      let status = isWhole && !isShort ? 1 : 2
      let made = isWhole && !isShort && words[3] == "extract" ? 1 : 0
      #expect(words[1] == "\(status)" && words[2] == "\(made)", "\(line)")
    }
  }

  // MARK: Limits

  /// The ratio is judged by what comes out, or by the size of a file: a header's announcement is nothing yet.
  @Test func ratioOfOrdinaryArchives() throws {
    let stage = try FailureModeStage()
    let script = """
      head -c 24M /dev/urandom > r; tar -cf f.tar r; zstd -qc f.tar > f.zst; $S create -q --no-sync ours r
      for f in f.tar f.zst ours; do for source in $f -; do
        $S extract -q --no-sync --max-ratio 2 $source out < <(cat $f) || echo "$f $source $?"; cmp r out/r; rm -rf out
      done; done
      """
    let result = try Starc.script(script, directory: stage.path)
    #expect(result.outputText == "" && result.errorText == "", "\(result.outputText)\(result.errorText)")
  }

  /// What expands more than is allowed ends the run early, and nothing stays.
  @Test func bombs() throws {
    let stage = try FailureModeStage()
    var header = Tar.Header(name: "z", size: 3 << 30)
    header.mode = 0o600
    try stage.write(header.block, "header")
    let script = """
      (cat header; head -c 3G /dev/zero; head -c 1024 /dev/zero) | zstd -q -1 > f
      for option in "--max-size 1M" "--max-ratio 100" "--max-entries 0"; do for source in f -; do
        rm -rf out; timeout 20 $S extract --no-sync $option $source out > /dev/null 2> errors < <(cat f)
        echo "$? $(ls -A | grep -c out) $(grep -c -e "${option% *}" errors)"
      done; done
      # Into a directory that is there the file that was begun goes too.
      mkdir out; timeout 20 $S extract --no-sync --max-ratio 100 - out > /dev/null 2> errors < <(cat f); ls -A out
      """
    let lines = try Starc.script(script, directory: stage.path).outputText
    #expect(lines == String(repeating: "2 1 1\n", count: 6))
  }
}
