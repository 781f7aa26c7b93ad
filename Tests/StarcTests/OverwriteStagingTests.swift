internal import TestSupport
internal import Testing

/// A new destination appears as a whole or not at all, whatever ends the run.
@Suite(.inTemporaryDirectory(.memory)) struct OverwriteStagingTests {
  private func run(_ text: String) throws {
    try Starc.expectSuccess(
      #"""
      mkdir -p src/sub; head -c 9000000 /dev/urandom > src/big; for i in $(seq 300); do echo $i > src/sub/$i; done
      chmod 555 src/sub; $S create -q --no-sync a.tar.zst src
      # Gives most of the archive, then nothing for as long as the file "hold" is there.
      slow() { head -c 9100000 a.tar.zst; while [ -e hold ]; do sleep 0.02; done; }
      nothing() { test "$(ls -A)" = "$(printf '%s\n' "$@" | sort)"; }

      """# + text, directory: try #require(TemporaryDirectory.current).path)
  }

  @Test(arguments: ["cut", "flipped", "climbing", "device-name"]) func failureLeavesNothing(_ fault: String) throws {
    try run(
      """
      python3 - \(fault) <<'END'
      import io, sys, tarfile, subprocess
      data = bytearray(open('a.tar.zst', 'rb').read())
      if sys.argv[1] == 'cut': data = data[:len(data) * 2 // 3]
      elif sys.argv[1] == 'flipped': data[len(data) // 2] ^= 4
      else:
          out = io.BytesIO()
          with tarfile.open(fileobj=out, mode='w') as t:
              for name in ('first', 'dir/second', '../up' if sys.argv[1] == 'climbing' else 'n' * 256):
                  info = tarfile.TarInfo(name); info.size = 3
                  t.addfile(info, io.BytesIO(b'abc'))
          data = subprocess.run(['zstd', '-qc'], input=out.getvalue(), capture_output=True).stdout
      open('bad', 'wb').write(data)
      END
      rm a.tar.zst
      status 2 $S extract -q bad out 2> errors; test -s errors; nothing bad errors src
      status 2 $S extract -q - out 2> errors < bad; test -s errors; nothing bad errors src
      status 2 $S extract -q - out 2> errors < <(cat bad); test -s errors; nothing bad errors src
      """)
  }

  @Test func lenientLeavesRefusedMembersOut() throws {
    try run(
      """
      python3 - <<'END'
      import io, tarfile
      with tarfile.open('bad.tar', 'w') as t:
          for name in ('first', '../up', 'dir/second', 'a/../../up', '/abs'):
              info = tarfile.TarInfo(name); info.size = 3
              t.addfile(info, io.BytesIO(b'abc'))
      END
      mkdir in; cd in
      for source in ../bad.tar '-'; do
        status 1 $S extract --lenient $source out < ../bad.tar > /dev/null 2> ../errors
        grep -q 'up: ' ../errors; test "$(cat out/first out/dir/second out/abs)" = abcabcabc
        test "$(find . | wc -l)" = 6; test ! -e ../up; rm -r out
      done
      """)
  }

  @Test func killedRunIsCleanedUpByTheNext() throws {
    try run(
      """
      touch hold; mkfifo p; slow > p & $S extract -q - out < p & pid=$!; until_exists .out.starc-partial/src/sub/300
      status 2 $S extract -q a.tar.zst out 2> errors; grep -q 'another run' errors; test ! -e out
      kill -KILL $pid; rm hold; wait || true
      nothing .out.starc-partial a.tar.zst errors p src; rm errors p
      $S extract -q --no-sync a.tar.zst out; nothing a.tar.zst out src; diff -r src out/src
      """)
  }

  /// A staging directory that somebody else has put there is not used.
  @Test func foreignStagingDirectoryIsRefused() throws {
    try run(
      """
      mkdir outside; ln -s outside .out.starc-partial
      status 2 $S extract -q a.tar.zst out 2> errors; test -s errors; test -z "$(ls outside)"; test ! -e out
      """)
  }

  @Test(arguments: [("INT", 130), ("TERM", 143)]) func signalLeavesNothing(_ name: String, _ status: Int) throws {
    try run(
      """
      touch hold; mkfifo p; slow > p & $S extract -q - out < p 2> errors & pid=$!
      until_exists .out.starc-partial/src/sub/300; kill -\(name) $pid; status \(status) wait $pid; rm hold; wait || true
      test "$(cat errors)" = 'starc: cancelled'; test ! -e out; test ! -e .out.starc-partial
      """)
  }

  /// Files that are not complete are not left in a directory that exists.
  @Test func signalInAnExistingDirectory() throws {
    try run(
      """
      mkdir out; touch hold; mkfifo p; slow > p & $S extract -q - out < p 2> errors & pid=$!
      until_exists out/src/sub/300; kill -INT $pid; status 130 wait $pid; rm hold; wait || true
      test -z "$(find out -name '.starc*')"; cmp src/big out/src/big; test $(stat -c %a out/src/sub) = 555
      """)
  }

  /// The destination that came into being meanwhile is not touched.
  @Test func destinationThatAppearsMeanwhile() throws {
    try run(
      """
      touch hold; mkfifo p; (slow; tail -c +9100001 a.tar.zst) > p & $S extract -q - out < p 2> errors & pid=$!
      until_exists .out.starc-partial/src/sub/300; mkdir out; touch out/mine; rm hold; status 2 wait $pid
      test "$(ls -A out)" = mine; test ! -e .out.starc-partial; grep -q out: errors
      """)
  }

  @Test func killedCreateLeavesTheOldArchive() throws {
    try run(
      """
      cp a.tar.zst old; $S create -q --level 19 --threads 1 a.tar.zst src & pid=$!
      until_exists .a.tar.zst.starc-partial.tmp; kill -KILL $pid; wait $pid 2> /dev/null || true
      cmp old a.tar.zst; $S create -q --no-sync a.tar.zst src; $S verify -q a.tar.zst; nothing a.tar.zst old src
      """)
  }

  @Test func twoRunsBesideEachOther() throws {
    try run(
      """
      $S extract -q --no-sync a.tar.zst one & first=$!; $S extract -q --no-sync a.tar.zst two & wait $first; wait $!
      diff -r src one/src; diff -r src two/src; nothing a.tar.zst one two src
      """)
  }
}
