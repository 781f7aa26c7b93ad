internal import TestSupport
internal import Testing

/// Hard links whose target is not extracted: they get its content, where the archive can be read again.
@Suite(.inTemporaryDirectory(.memory)) struct MissingTargetTests {
  /// How the archive comes to `extract`.
  enum Source: String, CaseIterable, Sendable {
    case indexed = "a.tar.zst"
    case plain = "a.tar"
    case compressed = "b.tar.zst"
    /// Frames with a window of their own that lanes do not decode.
    case streamed = "c.tar.zst"
    /// Standard input that is a file.
    case input = "- < a.tar"
    case indexedInput = "- < a.tar.zst"
    case pipe = "- < <(cat a.tar.zst)"
    case plainPipe = "- < <(cat a.tar)"

    static let files = allCases.filter { $0 != .pipe && $0 != .plainPipe }
    static let pipes = [Source.pipe, .plainPipe]
  }

  /// Runs a script with the archive at hand; the bash function `x` is the command without the archive.
  private func run(_ source: Source, _ text: String) throws {
    let parts = source.rawValue.split(separator: " ", maxSplits: 1)
    let redirection = parts.count > 1 ? String(parts[1]) : ""
    try Starc.expectSuccess(
      #"""
      mkdir -p src/a/b; echo one > src/a/f; ln src/a/f src/a/b/g; ln src/a/f src/y; echo two > src/a/t; ln src/a/t src/z
      chmod 751 src/a/f; touch -d 2001-02-03T04:05:06 src/a/f
      head -c 9000000 /dev/urandom > src/a/big; ln src/a/big src/large; ln src/a/big src/larger
      truncate -s 3M src/a/holes; printf x >> src/a/holes; ln src/a/holes src/sparse
      ln -s nowhere src/a/l; ln src/a/l src/link; echo last > src/zz
      $S create -q --no-sync a.tar.zst src; tar --sort=name -Scf a.tar src
      zstd -qc a.tar > b.tar.zst; zstd -qc < <(cat a.tar) > c.tar.zst
      clean() { test -z "$(find . -name '*starc*')"; }

      """#
        + "x() { $S extract --no-sync --same-permissions \(parts[0]) \"$@\" \(redirection) > /dev/null; }\n" + text,
      directory: try #require(TemporaryDirectory.current).path)
  }

  @Test(arguments: Source.files, [1, 8]) func contentComesFromTheTarget(_ source: Source, _ threads: Int) throws {
    try run(
      source,
      """
      x d --threads \(threads) src/y src/z src/zz; test "$(ls d/src | tr '\\n' ' ')" = 'y z zz '
      test "$(cat d/src/y d/src/z d/src/zz | tr '\\n' ' ')" = 'one two last '
      test "$(stat -c '%a %Y %h' d/src/y)" = "$(stat -c '%a %Y' src/a/f) 1"
      # Links to one target stay links to each other, and sparse files sparse.
      x e --threads \(threads) src/large src/larger src/sparse src/link
      cmp src/a/big e/src/large; test e/src/large -ef e/src/larger; test $(stat -c %h e/src/large) = 2
      cmp src/a/holes e/src/sparse; test $(stat -c %b e/src/sparse) -lt 1000; test "$(readlink e/src/link)" = nowhere
      clean
      """)
  }

  /// Into a directory that exists, over and beside what is there.
  @Test(arguments: Source.files) func existingDirectory(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src; echo mine > d/src/y; echo mine > d/src/other
      status 2 x d src/y 2> errors; grep -q 'src/y: .*--overwrite' errors; test "$(cat d/src/y)" = mine
      x d src/y --overwrite keep; test "$(cat d/src/y)" = mine
      x d src/y src/large --overwrite replace; test "$(cat d/src/y)" = one; cmp src/a/big d/src/large
      test "$(cat d/src/other)" = mine; clean
      """)
  }

  /// A path that loses its leading components loses them under a link's name too; targets that have no name then are none.
  @Test(arguments: Source.files) func strippedNames(_ source: Source) throws {
    try run(
      source,
      """
      x d src/y src/large --strip-components 1; test "$(ls d | tr '\\n' ' ')" = 'large y '
      test "$(cat d/y)" = one; cmp src/a/big d/large
      (cd src; ln zz a/b/deep; tar --sort=name -cf ../a.tar zz a; $S create -q --no-sync ../a.tar.zst zz a)
      zstd -qc a.tar > b.tar.zst; zstd -qc < <(cat a.tar) > c.tar.zst
      x e --strip-components 2; test "$(cat e/deep e/g)" = "$(printf 'last\none')"; clean
      """)
  }

  /// Bytes that have gone by do not come again: that link is left out by name, the rest is made.
  @Test(arguments: Source.pipes) func pipesGiveWhatTheyCan(_ source: Source) throws {
    try run(
      source,
      """
      status 1 x d src/y src/zz src/large 2> errors; test "$(ls d/src)" = zz; test "$(cat d/src/zz)" = last
      grep -q 'src/y: hard link to "src/a/' errors; grep -q 'src/large: hard link to "src/a/big"' errors
      test $(wc -l < errors) = 2; clean
      """)
  }

  // MARK: Odd archives

  /// Extracts members of an archive made by hand from a file, plain and compressed.
  private func check(
    _ archive: [[UInt8]], _ members: [String], _ status: Int32, _ tree: [String], says: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let stage = try FailureModeStage()
    try stage.write(archive.flatMap { $0 } + Tar.end, "f.tar")
    try stage.write(try Shell.run(["zstd", "-qc", stage.path + "/f.tar"]).output, "f.tar.zst")
    for file in ["f.tar", "f.tar.zst"] {
      for threads in ["1", "8"] {
        let arguments = ["extract", "--lenient", "--no-sync", "--threads", threads, file, "out"] + members
        let result = try stage.run(arguments)
        #expect(result.status == status, "\(file): \(result.errorText)", sourceLocation: sourceLocation)
        #expect(try stage.tree() == tree, "\(file)", sourceLocation: sourceLocation)
        #expect(result.errorText.contains(says), "\(result.errorText)", sourceLocation: sourceLocation)
        try Shell.script("rm -rf out", directory: stage.path)
      }
    }
  }

  /// A link means the last member of the name before it, or else the last one.
  @Test func targetsOfOneName() throws {
    try check(
      [
        Tar.hardLink("early", to: "f"), Tar.entry("f", "1"), Tar.hardLink("h", to: "f"), Tar.entry("f", "22"),
        Tar.hardLink("i", to: "f"), Tar.hardLink("j", to: "f"), Tar.entry("f", "333"),
      ], ["early", "h", "i", "j"], 0, ["early=333", "h=1", "i=22 2", "j=22 2"])
  }

  @Test func linksToLinks() throws {
    let archive = [
      Tar.entry("f", "1"), Tar.hardLink("g", to: "f"), Tar.hardLink("h", to: "g"), Tar.hardLink("i", to: "h"),
      Tar.hardLink("before", to: "after"), Tar.hardLink("after", to: "i"),
    ]
    try check(archive, ["i"], 0, ["i=1"])
    try check(archive, ["h", "i"], 0, ["h=1 2", "i=1 2"])
    try check(archive, ["f", "i"], 0, ["f=1 2", "i=1 2"])
    try check(archive, ["before"], 0, ["before=1"])
    // A circle is no file, however often it is gone through.
    let circle = [Tar.hardLink("g", to: "h"), Tar.hardLink("h", to: "g"), Tar.hardLink("i", to: "g")]
    try check(circle + [Tar.entry("a", "1")], ["a", "i"], 1, ["a=1"], says: "i: hard link to ")
  }

  /// Of members of one name the last counts, though some of them be links themselves.
  @Test func linksAmongMembersOfOneName() throws {
    let (one, two, link) = (Tar.entry("f", "1"), Tar.entry("g", "2"), Tar.hardLink("f", to: "g"))
    let three = Tar.entry("f", "3")
    try check([two, one, link, Tar.hardLink("i", to: "f")], ["i"], 0, ["i=2"])
    try check([two, one, link, three, Tar.hardLink("i", to: "f")], ["i"], 0, ["i=3"])
    try check([two, link, one, Tar.hardLink("i", to: "f"), link], ["i"], 0, ["i=1"])
    try check([Tar.hardLink("i", to: "f"), two, one, link], ["i"], 0, ["i=2"])
    let links = [Tar.hardLink("i", to: "f"), Tar.hardLink("j", to: "f")]
    try check(links + [one, two, link], ["i", "j"], 0, ["i=2 2", "j=2 2"])
  }

  /// Fifty members of one name that refer to themselves: each time that the archive is gone through a link comes once, not fifty times.
  @Test func linksThatComeAgainAndAgain() throws {
    let circle = [[UInt8]](repeating: Tar.hardLink("g", to: "g"), count: 50)
    let others = [Tar.hardLink("i", to: "g"), Tar.entry("a", "1")]
    for archive in [circle + others, others + circle] {
      try check(archive, ["a", "i"], 1, ["a=1"], says: "i: hard link to ")
    }
  }

  /// Hundreds of links times hundreds of members are refused before anybody notices.
  @Test func pairsOfLinksAndMembersAreLimited() throws {
    let stage = try FailureModeStage()
    let links = (0..<350).flatMap { Tar.hardLink(Bytes("i/\($0)"), to: "g") }
    let members = (0..<350).flatMap { _ in Tar.hardLink("g", to: "f") }
    try stage.write(links + members + Tar.end, "f.tar")
    let result = try stage.run(["extract", "--no-sync", "f.tar", "out", "i"])
    #expect(result.status == 2 && result.errorText.contains("100,000"), "\(result.errorText)")
    #expect(try stage.tree() == nil)
  }

  @Test func targetsThatAreNoFiles() throws {
    let archive = [
      Tar.directory("d"), Tar.entry("n", type: "3") { $0.device = (1, 3) }, Tar.hardLink("x", to: "d"),
      Tar.hardLink("y", to: "n"), Tar.hardLink("z", to: "none"), Tar.hardLink("outside", to: "/etc/passwd"),
      Tar.entry("a", "1"),
    ]
    try check(archive, ["a", "x"], 1, ["a=1"], says: "x: hard link to \"d\"")
    try check(archive, ["a", "y"], 1, ["a=1"], says: "y: is a device node")
    try check(archive, ["a", "z"], 1, ["a=1"], says: "z: hard link to \"none\"")
    try check(archive, ["a", "outside"], 1, ["a=1"], says: "outside: hard link to \"etc/passwd\"")
  }

  /// The later member of a name counts, whether it is a link or not.
  @Test func linksAndFilesOfOneName() throws {
    try check([Tar.entry("f", "1"), Tar.hardLink("h", to: "f"), Tar.entry("h", "2")], ["h"], 0, ["h=2"])
    try check([Tar.entry("f", "1"), Tar.entry("h", "2"), Tar.hardLink("h", to: "f")], ["h"], 0, ["h=1"])
    try check(
      [Tar.entry("f", "1"), Tar.entry("g", "2"), Tar.hardLink("h", to: "f"), Tar.hardLink("h", to: "g")], ["h"], 0,
      ["h=2"])
  }

  /// The contents count for the limits, and the link counts as one member.
  @Test(arguments: ["a.tar.zst", "a.tar"]) func limitsHold(_ file: String) throws {
    try Starc.expectSuccess(
      """
      mkdir -p src/a; head -c 3000000 /dev/zero > src/a/f; ln src/a/f src/y; ln src/a/f src/z
      $S create -q --no-sync a.tar.zst src; tar --sort=name -cf a.tar src
      $S extract -q --no-sync --max-entries 2 --max-size 3000000 \(file) out src/y src/z
      test out/src/y -ef out/src/z; rm -r out
      status 2 $S extract -q --max-size 2999999 \(file) out src/y src/z 2> errors; grep -q -e --max-size errors
      test ! -e out; test -z "$(find . -name '*starc*')"
      """, directory: try #require(TemporaryDirectory.current).path)
  }
}
