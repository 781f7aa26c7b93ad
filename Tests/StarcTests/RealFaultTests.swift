internal import ArchiveIO
internal import TestSupport
internal import Testing

/// Faults that the system itself makes: no space, no inodes, no descriptors, files that may not grow, and readers that go or stop.
@Suite(.inTemporaryDirectory(.memory)) struct RealFaultTests {
  /// A tree with a large file, small ones and a hard link, as an archive with and without an index.
  private func run(_ text: String) throws {
    try Starc.expectSuccess(
      #"""
      mkdir -p src/d; head -c 3000000 /dev/urandom > src/big; ln src/big src/d/link
      for i in $(seq 60); do head -c 20000 /dev/urandom > src/d/$i; done
      $S create -q --no-sync --chunk-size 64K a.tar.zst src; tar -cf a.tar src
      none() { local found; found=$(find "$@" -name '*starc-*'); [ -z "$found" ] || { echo "left $found" >&3; false; }; }
      # Into a directory: every file is the one of before ("mine") or the new one.
      old_or_new() {
        none $1; [ "$(cat $1/src/d/other)" = mine ]
        find $1 -type f -printf '%P\n' | while read -r f; do cmp -s "$1/$f" "$f" || [ "$(cat "$1/$f")" = mine ]; done
      }
      before() { mkdir -p $1/src/d; for f in d/5 d/link d/other; do echo mine > $1/src/$f; done; }

      """# + text, directory: try #require(TemporaryDirectory.current).path)
  }

  static let canMount =
    ProcessFacts.effectiveUserID == 0
    && (try? Shell.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"]).status) == 0

  @Test(
    .enabled(if: canMount, "needs the right to mount"),
    arguments: ["size=2m", "size=2m,nr_inodes=12", "nr_inodes=30"])
  func smallFileSystem(_ limit: String) throws {
    try run(
      """
      mkdir m; mount -t tmpfs -o \(limit) none m; trap 'umount -l m' EXIT; printf old > m/old.tar.zst
      if [ \(limit) != nr_inodes=30 ]; then for name in old new; do
        status 2 timeout 20 $S create -q m/$name.tar.zst src 2> err
        grep -q "m/$name.tar.zst: .*No space left" err
        is() { [ "$1" = "$2" ]; }; is "$(ls -A m)" old.tar.zst; is "$(cat m/old.tar.zst)" old
      done; fi
      for archive in a.tar.zst a.tar -; do
        status 2 timeout 20 $S extract -q $archive m/out < a.tar 2> err
        grep -q 'src/.*: .*No space left' err; [ "$(ls -A m)" = old.tar.zst ]
        before m/out; status 2 timeout 20 $S extract -q --overwrite replace $archive m/out < a.tar 2> err
        grep -q 'No space left' err; old_or_new m/out; rm -r m/out
      done
      """)
  }

  @Test func fewDescriptors() throws {
    try run(
      """
      ulimit -n 64
      $S create -q b.tar.zst src; $S create -q - src | $S verify -q --threads 32 -; $S extract -q --threads 32 b.tar.zst o1
      $S extract -q --threads 32 - o2 < b.tar.zst; $S extract -q --threads 32 --overwrite replace b.tar.zst o2
      $S salvage -q --threads 32 b.tar.zst o3; for o in o1 o2 o3; do diff -r src $o/src; none $o; done
      for c in "compare b.tar.zst o1" "verify b.tar.zst" "list b.tar.zst" "list -" "info b.tar.zst"; do
        $S $c --threads 32 < b.tar.zst > /dev/null || $S $c < b.tar.zst > /dev/null
      done
      $S cat b.tar.zst src/big | cmp - src/big
      """)
  }

  @Test(arguments: ["a.tar.zst", "a.tar", "-"]) func filesThatMayNotGrow(_ archive: String) throws {
    try run(
      """
      ulimit -f 1000
      status 2 $S extract -q \(archive) o < a.tar 2> err; grep -q 'src/big: .*File too large' err; [ ! -e o ]; none .
      before o; echo mine > o/src/big; status 2 $S extract -q --overwrite replace \(archive) o < a.tar 2> err
      grep -q 'src/big: .*File too large' err; [ "$(cat o/src/big)" = mine ]; old_or_new o
      printf old > c; status 2 $S create -q --store c src 2> err; grep -q 'c: .*File too large' err
      [ "$(cat c)" = old ]; none .; status 2 bash -c "$S create -q --store - src > d" 2> err; grep -q 'File too large' err
      """)
  }

  /// Nobody reads: lists end quietly, an archive that nobody gets is a failure. Nothing crashes, nothing is written elsewhere.
  @Test func closedPipes() throws {
    try run(
      """
      tar -cf many.tar --transform 's,.*,a-rather-long-name-in-a-list-&,' $(for i in $(seq 400); do echo src/d; done)
      closed() { code=0; "$@" 2> err | true || code=${PIPESTATUS[0]}; ! grep -q -e Fatal -e signal err; }
      for command in "list many.tar" "list -l many.tar" "list --json many.tar" "cat a.tar.zst src/big" "verify --json a.tar.zst" \\
        "info --json a.tar.zst" "create -q --json made src"; do
        closed $S $command; [ $code = 0 ] || { echo "$command: $code" >&3; exit 1; }
      done
      $S verify -q made; mkdir empty; closed $S compare a.tar.zst empty; [ $code = 1 ]
      closed $S create --store - src; [ $code = 141 ]
      """)
  }

  /// The reader sleeps and the pipe is full: a signal ends the run all the same.
  @Test(arguments: [("INT", 130), ("TERM", 143)]) func stoppedReaders(_ signal: String, _ status: Int) throws {
    try run(
      #"""
      tar -cf many.tar $(for i in $(seq 400); do echo src/d; done); mkfifo p
      for command in "cat a.tar.zst src/big" "create --store - src" "list -l many.tar"; do
        bash -c 'read -n 1 x; kill -STOP $$; sleep 60' < p & reader=$!
        $S $command > p 2> err & pid=$!
        for _ in $(seq 2000); do grep -q ' T ' /proc/$reader/stat && break; sleep 0.01; done
        # It waits for room in the pipe.
        for _ in $(seq 300); do grep -q -e poll -e pipe /proc/$pid/wchan && break; sleep 0.01; done
        kill -\#(signal) $pid; status \#(status) wait $pid; [ "$(cat err)" = 'starc: cancelled' ]
        kill -KILL $reader; wait $reader 2> /dev/null || true
      done
      """#)
  }

  // MARK: Old files

  /// A link refers to a file that the failed run did not make: an old file of that name is not linked to, and what has the link's
  /// name stays.
  @Test(arguments: ["", "--lenient"]) func aFailedRunLinksNothingOld(_ option: String) throws {
    try run(
      """
      python3 - <<'EOF'
      import tarfile, io
      with tarfile.open('cut.tar', 'w') as tar:
          link = tarfile.TarInfo('src/link'); link.type = tarfile.LNKTYPE; link.linkname = 'src/big'; tar.addfile(link)
          info = tarfile.TarInfo('src/big'); info.size = 3000000; tar.addfile(info, open('src/big', 'rb'))
      EOF
      truncate -s 1000000 cut.tar
      for source in cut.tar -; do for overwrite in replace keep; do
        mkdir -p o/src; echo old > o/src/big; [ $overwrite = keep ] || echo mine > o/src/link
        status 2 $S extract -q \(option) --overwrite $overwrite $source o < cut.tar 2> err
        [ "$(cat o/src/big)" = old ]; [ "$(cat o/src/link 2> /dev/null || echo mine)" = mine ]; none o; rm -r o
      done; done
      """)
  }

  /// A target that a lenient run may not replace is no file of this run: the link gets the content of the archive.
  @Test(.enabled(if: ProcessFacts.effectiveUserID == 0, "needs root to become another user"))
  func aLinkToWhatCouldNotBeReplaced() throws {
    let place = try #require(TemporaryDirectory.current)
    try Shell.script("cp '\(Starc.path)' starc; mkdir home; chown 65534 home; chmod 755 starc .", directory: place.path)
    try Starc.expectSuccess(
      """
      cd home; mkdir -p src/ro; echo new > src/ro/target; ln src/ro/target src/zlink; tar -cf a.tar src/ro src/zlink
      $S create -q --no-sync a.tar.zst src/ro src/zlink
      for archive in a.tar a.tar.zst; do
        mkdir -p o/src/ro; echo old > o/src/ro/target; echo mine > o/src/zlink; chmod 555 o/src/ro
        status 1 $S extract -q --lenient --overwrite replace $archive o 2> err
        [ "$(cat o/src/ro/target)" = old ]; [ "$(cat o/src/zlink)" = new ]; chmod 755 o/src/ro; rm -r o
      done
      """, directory: place.path, tool: place.file("starc"), userID: Shell.plainUser)
  }
}
