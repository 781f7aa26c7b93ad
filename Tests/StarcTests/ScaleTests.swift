internal import TestSupport
internal import Testing

/// Trees that are deep, wide or odd, with few descriptors and little memory.
@Suite(.inTemporaryDirectory(.memory)) struct ScaleTests {
  private func run(_ text: String, userID: UInt32? = nil) throws {
    try Starc.expectSuccess(text, directory: try #require(TemporaryDirectory.current).path, userID: userID)
  }

  /// 10,000 directories inside each other: a path of 20 KB, with 64 descriptors and a stack of 256 KiB.
  @Test func deepTree() throws {
    try run(
      """
      python3 -c '
      import os
      os.mkdir("src"); os.chdir("src")
      for i in range(10000): os.mkdir("d"); os.chdir("d")
      open("leaf", "w").write("x")'
      ulimit -n 64; ulimit -s 256
      $S create -q --no-sync a.tar.zst src
      test $($S list a.tar.zst | wc -l) = 10002
      leaf=src/$(printf 'd/%.0s' $(seq 10000))leaf
      echo "$leaf" | cmp - <($S list a.tar.zst | tail -1)
      echo "$leaf" > path; test $(wc -c < path) = 20009
      $S verify -q a.tar.zst; $S verify -q --quick a.tar.zst; $S verify -q - < <(cat a.tar.zst)
      $S extract -q --no-sync a.tar.zst one --threads 1; $S compare -q a.tar.zst one
      $S extract -q --no-sync --threads 8 - many < <(cat a.tar.zst); $S compare -q a.tar.zst many
      # The clean-up of a staging directory goes as deep: the last frames are cut off.
      head -c -1000 a.tar.zst > cut; status 2 $S extract -q - cut-out < <(cat cut) 2> /dev/null
      test "$(ls -A | tr '\\n' ' ')" = 'a.tar.zst cut many one path src '
      """)
  }

  /// The memory for 100,000 empty files in one directory is that for a thousand and at most 24 MiB, with 64 descriptors.
  @Test func wideDirectory() throws {
    try run(
      """
      mkdir -p few/d many/d; cd few/d; seq 1000 | xargs touch; cd ../../many/d; seq 100000 | xargs touch; cd ../..
      ulimit -n 64
      grew() { # NAME FEW MANY
        echo "$1: $2 KiB for 1,000 and $3 KiB for 100,000 files"; [ $(($3 - $2)) -lt 24576 ] || { echo "$1 grew" >&3; exit 97; }
      }
      grew create $(peak $S create -q --no-sync few.tar.zst few) $(peak $S create -q --no-sync many.tar.zst many)
      for verb in list verify; do grew $verb $(peak $S $verb few.tar.zst) $(peak $S $verb many.tar.zst); done
      grew stream $(cat few.tar.zst | peak $S verify -) $(cat many.tar.zst | peak $S verify -)
      grew extract $(peak $S extract --no-sync few.tar.zst x1) $(peak $S extract --no-sync many.tar.zst x2)
      grew piped $(cat few.tar.zst | peak $S extract --no-sync - y1) $(cat many.tar.zst | peak $S extract --no-sync - y2)
      grew compare $(peak $S compare few.tar.zst x1) $(peak $S compare many.tar.zst x2)
      test $(ls y2/many/d | wc -l) = 100000; test $($S list many.tar.zst | wc -l) = 100002
      """)
  }

  /// The archive that is being written is not part of itself, nor is what goes to standard output.
  @Test func outputInsideTheSource() throws {
    try run(
      """
      mkdir src; cd src; head -c 5000000 /dev/urandom > data
      $S create --no-sync a.tar.zst . > /dev/null 2> ../errors; ! grep -q -v a.tar.zst ../errors
      test "$($S list a.tar.zst | tr '\\n' ' ')" = './ data ' || test "$($S list a.tar.zst | tr '\\n' ' ')" = './ ./data '
      rm a.tar.zst; $S create -q - . > b.tar.zst; test $($S list b.tar.zst | wc -l) = 2; $S verify -q b.tar.zst
      # An old archive that is replaced is left out as well: it is gone in the end.
      $S create -q --no-sync b.tar.zst .; $S create -q --no-sync b.tar.zst .; $S verify -q b.tar.zst
      test $(stat -c %s b.tar.zst) -lt 6000000
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

  /// A source that is itself a FIFO or link is stored as what it is.
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
