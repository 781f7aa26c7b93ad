internal import TestSupport
internal import Testing

/// Trees that are deep, wide or odd, with few descriptors and little memory.
@Suite(.inTemporaryDirectory(.memory)) struct ScaleTests {
  private func run(_ text: String, userID: UInt32? = nil) throws {
    try Starc.expectSuccess(text, directory: try #require(TemporaryDirectory.current).path, userID: userID)
  }

  /// Makes "src" with so many directories inside each other and a file "leaf" in the last.
  private static let deep = """
    deep() {
      python3 -c '
    import os, sys
    os.mkdir("src"); os.chdir("src")
    for i in range(int(sys.argv[1])): os.mkdir("d"); os.chdir("d")
    open("leaf", "w").write("x")' $1
    }

    """

  /// 10,000 directories inside each other: a path of 20 KB, with 64 descriptors and a stack of 256 KiB. All their paths are
  /// 100 MB, which `create` does not hold at once.
  @Test(.disabled(if: Sanitizer.isOn, "judges memory")) func deepTree() throws {
    try run(
      Self.deep + """
        deep 10000; ulimit -n 64; ulimit -s 256
        kib=$(peak $S create -q --no-sync --threads 4 a.tar.zst src); echo "create: $kib KiB"
        [ $kib -lt 65536 ] || { echo "create takes $kib KiB" >&3; exit 97; }
        $S list a.tar.zst > list; test $(wc -l < list) = 10002
        leaf=src/$(printf 'd/%.0s' $(seq 10000))leaf; echo "$leaf" | cmp - <(tail -n 1 list)
        $S verify -q a.tar.zst
        $S extract -q --no-sync a.tar.zst out; $S compare -q a.tar.zst out
        """)
  }

  /// The same from a pipe, and when all that was made has to be removed.
  @Test func deepTreeFromAPipe() throws {
    try run(
      Self.deep + """
        deep 4000; ulimit -n 64; ulimit -s 256
        $S create -q --no-sync - src > a.tar.zst; $S verify -q - < <(cat a.tar.zst)
        $S extract -q --no-sync --threads 8 - out < <(cat a.tar.zst); $S compare -q a.tar.zst out
        head -c -1000 a.tar.zst > cut; status 2 $S extract -q - cut-out < <(cat cut) 2> /dev/null
        test "$(ls -A | tr '\n' ' ')" = 'a.tar.zst cut out src '
        """)
  }

  /// With 100,000 empty files in one directory and 64 descriptors no command takes more than 64 MiB.
  @Test(.disabled(if: Sanitizer.isOn, "judges memory")) func wideDirectory() throws {
    try run(
      """
      mkdir -p src/d; cd src/d; seq 100000 | xargs touch; cd ../..; ulimit -n 64
      small() { # NAME KIB
        echo "$1: $2 KiB"; [ $2 -lt 65536 ] || { echo "$1 takes $2 KiB" >&3; exit 97; }
      }
      small create $(peak $S create -q --no-sync a.tar.zst src)
      for verb in list verify; do small $verb $(peak $S $verb a.tar.zst); done
      small extract $(peak $S extract --no-sync a.tar.zst out)
      small compare $(peak $S compare -q a.tar.zst out)
      test $(ls out/src/d | wc -l) = 100000
      """)
  }

  /// The archive that is being written is not part of itself, nor is what goes to standard output.
  @Test func outputInsideTheSource() throws {
    try run(
      """
      mkdir src; cd src; head -c 5000000 /dev/urandom > data
      $S create --no-sync a.tar.zst . > /dev/null 2> ../errors
      test $(grep -vc a.tar.zst ../errors || true) = 0
      test $($S list a.tar.zst | wc -l) = 2; $S cat a.tar.zst data | cmp - data
      rm a.tar.zst; $S create -q - . > b.tar.zst; test $($S list b.tar.zst | wc -l) = 2; $S verify -q b.tar.zst
      """)
  }

  /// An archive that is made anew inside its own source holds neither itself nor the one whose place it takes, by whatever
  /// way that is named. Another name of the old file stays, so it is stored.
  @Test func outputReplacesAFileOfTheSource() throws {
    try run(
      """
      mkdir src; cd src; echo x > data; mkdir sub; ln -s sub/c.tar.zst link
      once() { # ARCHIVE SOURCE NAMES
        for turn in 1 2 3; do $S create --no-sync "$1" "$2" > ../out 2> ../errors; done
        test "$($S list "$1" | tr '\\n' ' ')" = "$3" || { echo "$1 $2: $($S list "$1")" >&3; exit 95; }
      }
      $S create -q --no-sync a.tar.zst data
      once a.tar.zst . './ data link sub/ '
      $S create --no-sync a.tar.zst . 2>&1 > /dev/null | grep -q 'a.tar.zst: is replaced by the archive'
      ln a.tar.zst kept; once a.tar.zst . './ data kept link sub/ '; $S cat a.tar.zst kept | $S list -q - | grep -qx data
      rm a.tar.zst kept; once link . './ data link sub/ '
      once sub/c.tar.zst sub 'sub/ '; head -c 4000000 /dev/urandom > sub/c.tar.zst; once sub/c.tar.zst sub 'sub/ '
      """)
  }

  /// FIFOs and devices are stored without being opened; sockets are named and left out.
  @Test func specialFiles() throws {
    try run(
      """
      mkdir src; mkfifo src/fifo; echo x > src/f
      timeout 20 $S create -q --no-sync a.tar.zst src; $S list -l a.tar.zst | grep -q '^prw.*src/fifo'
      timeout 20 $S extract -q --no-sync a.tar.zst out; test -p out/src/fifo; timeout 20 $S compare -q a.tar.zst out
      python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("src/s")'
      status 1 timeout 20 $S create --no-sync a.tar.zst src > /dev/null 2> errors
      grep -q 'src/s: .*socket' errors; test $(wc -l < errors) = 1; $S verify -q a.tar.zst
      test "$($S list a.tar.zst | tr '\\n' ' ')" = 'src/ src/f src/fifo '
      ln -s src/fifo link; ln -s loop loop; timeout 20 $S create -q --no-sync b.tar.zst link loop
      test $($S list b.tar.zst | wc -l) = 2
      """)
  }

  /// Commands that wait for a pipe end at once.
  @Test(arguments: [("INT", 130), ("TERM", 143)]) func readersEndOnSignals(_ name: String, _ status: Int) throws {
    try run(
      """
      mkdir src; head -c 3000000 /dev/urandom > src/f; $S create -q --no-sync a.tar.zst src; mkfifo p
      for command in "list -" "verify -" "cat - src/f" "compare - src" "info -"; do
        (head -c 1000000 a.tar.zst; sleep 20) > p & feeder=$!
        $S $command < p > /dev/null 2> errors & pid=$!
        sleep 0.3; kill -\(name) $pid; status \(status) wait $pid; kill $feeder 2> /dev/null || true
        test "$(cat errors)" = 'starc: cancelled' || { echo "$command: $(cat errors)" >&3; exit 96; }
      done
      """)
  }

  /// Many lanes with few descriptors.
  @Test func fewDescriptors() throws {
    try run(
      """
      mkdir src; for i in $(seq 40); do mkdir -p src/$i/a/b/c; seq $i 2000 > src/$i/a/b/c/f; head -c 100000 /dev/zero > src/$i/z; done
      head -c 9000000 /dev/urandom > src/big; ulimit -n 64
      $S create -q --no-sync --threads 16 a.tar.zst src; $S verify -q --threads 16 a.tar.zst
      $S extract -q --no-sync --threads 16 a.tar.zst out; $S compare -q --threads 16 a.tar.zst out; diff -r src out/src
      $S extract -q --no-sync --threads 16 - piped < <(cat a.tar.zst); diff -r src piped/src
      """)
  }
}
