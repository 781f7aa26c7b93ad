internal import TestSupport
internal import Testing

/// Extraction into directories that exist, of parts of an archive, and under shorter names.
@Suite(.inTemporaryDirectory(.memory)) struct OverwriteTests {
  /// How the archive comes to `extract`; the bash function `x` is the command without the archive.
  enum Source: String, CaseIterable, Sendable {
    case indexed = #"x() { $S extract --no-sync a.tar.zst "$@" > /dev/null; }"#
    case plain = #"x() { $S extract --no-sync a.tar "$@" > /dev/null; }"#
    case pipe = #"x() { cat a.tar.zst | $S extract --no-sync - "$@" > /dev/null; }"#
    case plainPipe = #"x() { cat a.tar | $S extract --no-sync - "$@" > /dev/null; }"#
  }

  private func run(_ source: Source, _ text: String) throws {
    try Starc.expectSuccess(
      #"""
      mkdir -p src/a/b; echo one > src/a/f; ln src/a/f src/a/b/g; echo two > src/z; ln src/z src/zz
      ln -s ../z src/a/b/l; head -c 9000000 /dev/zero | tr '\0' x > src/big
      mkdir src/ro; echo r > src/ro/f; chmod 555 src/ro; touch -d 2001-02-03T04:05:06 src/z src/a
      $S create -q --no-sync a.tar.zst src; tar --sort=name -cf a.tar src
      same() { diff -r --no-dereference src "$1"; }
      clean() { test -z "$(find . -name '*starc*')"; }

      """# + source.rawValue + "\n" + text,
      directory: try #require(TemporaryDirectory.current).path)
  }

  @Test(arguments: Source.allCases) func replaceMakesNewFiles(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src/a; echo precious > victim; ln -s ../../victim d/src/z; ln victim d/src/zz; echo old > d/src/big
      touch d/src/other
      x d --overwrite replace
      test "$(cat victim)" = precious; test "$(stat -c %h victim)" = 1
      test "$(stat -c '%F %h' d/src/z)" = 'regular file 2'; test d/src/z -ef d/src/zz
      test -e d/src/other; rm d/src/other; same d/src
      test "$(cd d; stat -c '%a %Y' src/ro src/a src/z)" = "$(stat -c '%a %Y' src/ro src/a src/z)"
      x d --overwrite replace; same d/src; clean
      """)
  }

  @Test(arguments: Source.allCases) func failNamesTheFileAndKeepsIt(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src; echo mine > d/src/z
      status 2 x d 2> errors; grep -q 'src/z: .*--overwrite' errors
      test "$(cat d/src/z)" = mine; clean
      status 1 x d --lenient 2> errors; grep -q src/z: errors
      test "$(cat d/src/z)" = mine; clean
      """)
  }

  /// All that the index shows is looked at before anything is made.
  @Test func failMakesNothingWithAnIndex() throws {
    try run(.indexed, "mkdir -p d/src; echo mine > d/src/z; status 2 x d 2> /dev/null; test $(find d | wc -l) = 3")
  }

  /// From a pipe the members before the error stay, whole and with all that they have.
  @Test(arguments: [Source.pipe, .plainPipe]) func failKeepsWhatCameBefore(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src; echo mine > d/src/zz; status 2 x d 2> /dev/null
      test "$(cat d/src/zz)" = mine; rm d/src/zz; cp -a src like; rm like/zz; diff -r --no-dereference like d/src
      test $(stat -c %a d/src/ro) = 555; clean
      """)
  }

  @Test(arguments: Source.allCases) func keepLeavesFilesAlone(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src/a; echo mine > d/src/zz; ln -s nowhere d/src/big; stat -c %i%Z d/src/zz > before
      x d --overwrite keep; test "$(stat -c %i%Z d/src/zz)" = "$(cat before)"; test "$(cat d/src/z)" = two
      test "$(cat d/src/zz)" = mine; test "$(readlink d/src/big)" = nowhere; test "$(cat d/src/a/b/g)" = one
      find d -ls > before; x d --overwrite keep; find d -ls | cmp - before; clean
      """)
  }

  /// A link whose target's name is taken by a file that stays is a file of its own, with the archive's content.
  @Test(arguments: Source.allCases) func keptFilesAreNotLinkedTo(_ source: Source) throws {
    let isPipe = source == .pipe || source == .plainPipe
    try run(
      source,
      """
      ln src/big src/large; $S create -q --no-sync a.tar.zst src; tar --sort=name -cf a.tar src
      for options in "--overwrite keep" --lenient; do
        mkdir -p d/src; echo mine > d/src/z; echo mine > d/src/big; code=0; x d $options 2> errors || code=$?
        test "$(cat d/src/z d/src/big | tr '\\n' ' ')" = 'mine mine '; test "$(stat -c %h d/src/z d/src/big | tr -d '\\n')" = 11
        test "$(cat d/src/a/b/g)" = one
        if \(isPipe); then
          test $code = 1; test ! -e d/src/zz; test ! -e d/src/large
          grep -q 'src/zz: hard link to "src/z"' errors; grep -q 'src/large: hard link to "src/big"' errors
        else
          test "$(cat d/src/zz)" = two; cmp src/big d/src/large; test $(stat -c %Y d/src/zz) = $(stat -c %Y src/z)
          test $code = $([ "$options" = --lenient ] && echo 1 || echo 0)
        fi
        clean; rm -r d
      done
      # A file that stays is not linked to by a link either whose own name is free, through one whose name is not.
      ln src/z src/zzz; ln src/z src/zzzz; $S create -q --no-sync a.tar.zst src; tar --sort=name -cf a.tar src
      mkdir -p d/src; echo mine > d/src/z; echo yours > d/src/zz
      \(isPipe ? "status 1" : "") x d --overwrite keep 2> errors
      test "$(cat d/src/z d/src/zz)" = "$(printf 'mine\nyours')"
      \(isPipe ? "test ! -e d/src/zzz" : "test d/src/zzz -ef d/src/zzzz; test \"$(cat d/src/zzz)\" = two"); clean
      """)
  }

  /// What stays does so for every member of the name, and for links through links.
  @Test(arguments: ["--overwrite keep", "--lenient"]) func keptFilesStayForAllMembers(_ option: String) throws {
    let stage = try FailureModeStage()
    let archive: [[UInt8]] = [
      Tar.entry("f", "1"), Tar.entry("f", "2"), Tar.hardLink("late", to: "end"), Tar.hardLink("f", to: "g"),
      Tar.entry("late", "3"), Tar.entry("g", "4"), Tar.entry("e", "5"), Tar.directory("e"), Tar.hardLink("h", to: "f"),
      Tar.hardLink("i", to: "h"), Tar.hardLink("j", to: "i"), Tar.entry("end", "6"),
    ]
    try stage.write(archive.flatMap { $0 } + Tar.end, "f.tar")
    try Starc.expectSuccess(
      """
      for threads in 1 8; do
        mkdir out; for f in f late e h i; do echo mine > out/$f; done
        code=0; $S extract --no-sync --lenient --threads $threads \(option) f.tar out > /dev/null 2> errors || code=$?
        for f in f late e h i; do test "$(cat out/$f)" = mine; test $(stat -c %h out/$f) = 1; done
        # "f" is a link to "g" in the end, and "j" refers to it through links.
        test "$(cat out/j out/g out/end)" = 446; test $code = 1; test -z "$(find . -name '*.tmp')"; rm -r out
      done
      """, directory: stage.path)
  }

  /// A hard link means a file of the archive: one that only the destination has gets no second name.
  @Test(arguments: ["fail", "keep", "replace"]) func filesOfTheDestinationAreNotLinkedTo(_ policy: String) throws {
    for (options, status) in [([], 2), (["--lenient"], 1)] as [([String], Int32)] {
      let stage = try FailureModeStage()
      try stage.write(Tar.entry("a", "1") + Tar.hardLink("h", to: "mine") + Tar.end, "f.tar")
      try Shell.script("mkdir out; printf old > out/mine", directory: stage.path)
      let result = try stage.run(["extract", "f.tar", "out", "--no-sync", "--overwrite", policy] + options)
      #expect(result.status == status && result.errorText.contains("hard link to \"mine\""), "\(result.errorText)")
      #expect(try stage.tree() == ["a=1", "mine=old"])
    }
  }

  /// A link that refers to a link gets what that one refers to, and not an old file that has its name until it is made.
  @Test func oldFilesAreNotLinkedTo() throws {
    let stage = try FailureModeStage()
    let archive: [[UInt8]] = [
      Tar.hardLink("j", to: "i"), Tar.hardLink("i", to: "h"), Tar.hardLink("h", to: "g"), Tar.hardLink("g", to: "f"),
      Tar.entry("f", "1"), Tar.hardLink("lost", to: "circle"), Tar.hardLink("circle", to: "circle"),
      Tar.hardLink("k", to: "twice"), Tar.hardLink("twice", to: "end"), Tar.entry("twice", "2"), Tar.entry("end", "3"),
    ]
    try stage.write(archive.flatMap { $0 } + Tar.end, "f.tar")
    try Starc.expectSuccess(
      """
      for threads in 1 8; do
        mkdir out; for f in j i h g f circle twice; do echo old > out/$f; done
        code=0; $S extract -q --no-sync --lenient --threads $threads --overwrite replace f.tar out 2> errors || code=$?
        test $code = 1; test "$(cat out/j out/i out/h out/g out/f)" = 11111; test $(stat -c %h out/f) = 5
        test "$(cat out/k out/twice out/end)" = 223; test ! -e out/lost; rm -r out
      done
      """, directory: stage.path)
  }

  /// Nothing is written through a link that lies in the destination.
  @Test(arguments: Source.allCases) func linksInTheDestinationAreNotFollowed(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src/a outside; ln -s ../../../outside d/src/a/b
      status 2 x d 2> errors; grep -q 'src/a/b' errors
      status 2 x d --overwrite keep 2> errors; grep -q 'src/a/b' errors
      status 1 x d --overwrite keep --lenient 2> errors; grep -q 'src/a/b' errors
      test -z "$(ls outside)"; test -L d/src/a/b
      x d --overwrite replace; test -z "$(ls outside)"; same d/src; clean
      """)
  }

  /// A file does not remove a directory that holds something.
  @Test(arguments: Source.allCases) func filesDoNotReplaceDirectories(_ source: Source) throws {
    try run(
      source,
      """
      mkdir -p d/src/z d/src/big; touch d/src/z/inside d/src/big/inside
      status 2 x d --overwrite replace 2> errors; grep -Eq 'src/(z|big): .*directory' errors
      test -e d/src/z/inside -a -e d/src/big/inside; clean
      status 1 x d --overwrite replace --lenient 2> errors; grep -q src/z: errors; grep -q src/big: errors
      test -e d/src/z/inside -a -e d/src/big/inside; test "$(cat d/src/a/f)" = one; clean
      """)
  }

  // MARK: Parts

  @Test(arguments: Source.allCases) func membersAreSelected(_ source: Source) throws {
    try run(
      source,
      """
      x d src/ro; test "$(cd d; find . | sort | tr '\\n' ' ')" = '. ./src ./src/ro ./src/ro/f '
      test $(stat -c %a d/src/ro) = 555
      x e src/z src/zz src/big; test e/src/z -ef e/src/zz; cmp src/big e/src/big; test $(ls e/src | wc -l) = 3
      status 2 x f src/a src/a/none 2> errors; grep -q src/a/none errors; test ! -e f
      status 2 x g 'src/z/' src/ro/ src/b 2> /dev/null; test ! -e g; clean
      """)
  }

  @Test(arguments: Source.allCases) func leadingComponentsAreDropped(_ source: Source) throws {
    try run(
      source,
      """
      x one --strip-components 1; same one; test one/z -ef one/zz
      x two --strip-components 2; test "$(cat two/f)" = r; test "$(cat two/b/g)" = one
      x three src/a/b --strip-components 3; test "$(readlink three/l)" = ../z
      """)
  }
}
