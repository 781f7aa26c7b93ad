internal import TestSupport
internal import Testing

/// An extraction that is killed leaves nothing half under a final name, and the next run succeeds.
@Suite(.inTemporaryDirectory(.memory)) struct KilledExtractionTests {
  private func run(_ text: String) throws {
    try Starc.expectSuccess(
      #"""
      mkdir -p src/sub src/ro; head -c 16000000 /dev/urandom > src/big; ln src/big src/sub/0
      for i in $(seq 300); do echo $i > src/sub/$i; done; touch src/ro/f; chmod 555 src/ro; ln -s big src/link
      touch -d 2001-01-01 src/sub/7 src/sub; $S create -q --no-sync a.tar.zst src; tar --sort=name -cf a.tar src
      # What there is of a tree under final names is whole.
      whole() {
        find $1 -type f ! -name '.starc-*' -printf '%P\n' | while read -r f; do cmp "src/$f" "$1/$f"; done
      }
      # The next run gives everything that the killed one did not.
      next() { # OVERWRITE
        chmod -R u+w out; $S extract -q --no-sync --overwrite $1 a.tar.zst out
        diff -r --no-dereference src out/src
        test "$(cd out/src; stat -c '%a %Y' ro sub sub/7)" = "$(cd src; stat -c '%a %Y' ro sub sub/7)"
        test -z "$(find out -name '*starc*')"
      }

      """# + text, directory: try #require(TemporaryDirectory.current).path)
  }

  /// In the middle of a large file, which has a temporary name then.
  @Test(arguments: ["a.tar.zst", "a.tar"], ["keep", "replace"])
  func inALargeFile(_ archive: String, _ overwrite: String) throws {
    try run(
      """
      mkdir out; touch hold; mkfifo p; (head -c 13000000 \(archive); while [ -e hold ]; do sleep 0.02; done) > p &
      $S extract -q --threads 1 - out < p & pid=$!
      for _ in $(seq 6000); do [ -z "$(find out -name '.starc-*.tmp' -size +1M)" ] || break; sleep 0.01; done
      test -n "$(find out -name '.starc-*.tmp' -size +1M)"; kill -KILL $pid; rm hold; wait || true
      test "$(ls out/src)" = ""; test $(ls -A out/src | wc -l) = 1
      next \(overwrite)
      """)
  }

  /// Between small files, at moments as they come; the run is over in some cases.
  @Test(arguments: ["a.tar.zst", "a.tar"]) func amongSmallFiles(_ archive: String) throws {
    try run(
      """
      for count in 20 200; do for overwrite in keep replace; do
        mkdir out; $S extract -q --no-sync --threads 2 \(archive) out & pid=$!
        while [ $(ls out/src/sub 2> /dev/null | wc -l) -lt $count ] && kill -0 $pid 2> /dev/null; do :; done
        kill -KILL $pid 2> /dev/null || true; wait $pid || true
        whole out/src; next $overwrite; chmod -R u+w out; rm -r out
      done; done
      """)
  }

  /// A file that was there is the old or the new one, never something else.
  @Test func oldFilesAreOldOrNew() throws {
    try run(
      """
      mkdir -p out/src/sub; for i in $(seq 300); do echo old > out/src/sub/$i; done; echo old > out/src/big
      $S extract -q --no-sync --overwrite replace a.tar.zst out & pid=$!
      while [ "$(cat out/src/sub/9)" = old ] && kill -0 $pid 2> /dev/null; do :; done
      kill -KILL $pid 2> /dev/null || true; wait $pid || true
      for f in big $(cd src; ls -d sub/[1-9]*); do
        [ "$(head -c 4 out/src/$f | tr -d '\\0')" = old ] || cmp src/$f out/src/$f
      done
      next replace
      """)
  }

  /// A new destination does not appear at all; what was staged goes with the next run, whatever moment it was.
  @Test(arguments: ["a.tar.zst", "a.tar"]) func newDestination(_ archive: String) throws {
    try run(
      """
      for count in 0 100; do
        $S extract -q --no-sync --threads 2 \(archive) out & pid=$!
        while [ $(ls .out.starc-partial/src/sub 2> /dev/null | wc -l) -lt $count ] && kill -0 $pid 2> /dev/null; do :; done
        kill -KILL $pid 2> /dev/null || true; wait $pid || true
        [ ! -e out ] || diff -r --no-dereference src out/src; [ ! -e out ] || { chmod -R u+w out; rm -r out; }
        $S extract -q --no-sync \(archive) out; diff -r --no-dereference src out/src
        test $(stat -c %a out/src/ro) = 555; test "$(ls -A | tr '\\n' ' ')" = 'a.tar a.tar.zst out src '
        chmod -R u+w out; rm -r out
      done
      """)
  }

  /// What a killed run left goes with the next one, though that may have the same process number.
  @Test(.enabled(if: canNumber, "needs a name space of processes")) func sameProcessNumber() throws {
    try run(
      """
      mkdir -p out
      for run in 1 2; do
        mkfifo p; exec 8<> p
        head -c 13000000 a.tar.zst > p & unshare --fork --pid --kill-child \
          $S extract -q --threads 1 --overwrite replace - out < p 8>&- & pid=$!
        for _ in $(seq 6000); do
          [ "$(find out -name '.starc-*.tmp' -size +1M)" = "${left-}" ] && kill -0 $pid || break; sleep 0.01
        done
        for _ in $(seq 1000); do left=$(find out -name '.starc-*.tmp'); [ -z "$left" ] || break; sleep 0.01; done
        # The program itself: as the first process of its name space it outlives the one that started it.
        kill -KILL $(pgrep -P $pid); wait $pid || true; exec 8>&-; wait || true; rm p
      done
      test $(find out -name '.starc-*.tmp' | wc -l) = 1; test $(find out -name '.starc-*.lock' | wc -l) = 1
      next replace
      """)
  }

  static let canNumber = (try? Shell.run(["unshare", "--fork", "--pid", "true"]).status) == 0

  // MARK: A second signal

  /// The first signal ends a run in order, the second at once: here the message that the run was cancelled cannot be written,
  /// since nobody reads it.
  @Test(arguments: [("INT", "INT", 130), ("TERM", "INT", 130), ("INT", "TERM", 143)])
  func secondSignalEndsAtOnce(_ first: String, _ second: String, _ status: Int) throws {
    try run(
      """
      mkfifo errors p; exec 7<> errors 8<> p; head -c 65536 /dev/zero >&7
      head -c 13000000 a.tar.zst > p &
      $S extract -q --threads 1 - out < p 2>&7 7>&- 8>&- & pid=$!
      until_exists .out.starc-partial/src/big; kill -\(first) $pid
      for _ in $(seq 6000); do [ -e .out.starc-partial ] || break; sleep 0.01; done
      test ! -e .out.starc-partial; kill -0 $pid
      kill -\(second) $pid; status \(status) wait $pid; test ! -e out
      """)
  }

  /// While what was staged is being removed: the next run removes the rest.
  @Test func secondSignalWhileCleaningUp() throws {
    try run(
      """
      (cd src/sub; seq 1000 20000 | xargs touch); chmod u+w src; $S create -q --no-sync --store b.tar.zst src
      mkfifo p; exec 8<> p; head -c -1000 b.tar.zst > p &
      $S extract -q - out < p 2> errors 8>&- & pid=$!; until_exists .out.starc-partial/src/sub/19000
      kill -INT $pid; while [ -e .out.starc-partial/src/big ] && kill -0 $pid 2> /dev/null; do :; done
      kill -INT $pid 2> /dev/null || true; status 130 wait $pid; test ! -e out
      $S extract -q --no-sync b.tar.zst out; diff -r --no-dereference src out/src; test ! -e .out.starc-partial
      """)
  }
}
