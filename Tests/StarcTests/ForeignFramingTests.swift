internal import TestSupport
internal import Testing

/// Archives by other programs in every framing that zstd allows, and in none.
@Suite(.inTemporaryDirectory(.memory)) struct ForeignFramingTests {
  private func run(_ text: String) throws {
    try Starc.expectSuccess(
      #"""
      mkdir -p s/d; seq 40000 > s/d/numbers; ln s/d/numbers s/hard; ln -s numbers s/d/link; : > s/empty
      head -c 700000 /dev/urandom > s/random; touch -hd 2020-02-02 s/d/link; chmod 2750 s/d
      tar --sort=name -cf t.tar s; tar tf t.tar > names
      cat > frames.py <<'END'
      import subprocess
      d = open('t.tar', 'rb').read()
      def skip(b, n=0): return (0x184D2A50 + n).to_bytes(4, 'little') + len(b).to_bytes(4, 'little') + b
      def z(b, *a): return subprocess.run(['zstd', '-qc', *a], input=b, capture_output=True, check=True).stdout
      def out(*parts): open('f', 'wb').write(b''.join(parts))
      END
      # Reads "f" by every command, from a file and from a pipe.
      all() {
        $S list f | cmp - names; $S list - < <(cat f) | cmp - names
        $S cat f s/random | cmp - s/random; $S cat - s/d/numbers < <(cat f) | cmp - s/d/numbers
        $S verify -q f; $S verify -q - < <(cat f)
        for threads in 1 8; do
          $S extract -q --no-sync --threads $threads f out; diff -r --no-dereference s out/s; test out/s/hard -ef out/s/d/numbers
          $S compare -q f out; $S compare -q - out < <(cat f); test $(stat -c %a out/s/d) = 2750; rm -r out
          $S extract -q --no-sync --threads $threads - out < <(cat f); diff -r --no-dereference s out/s; rm -r out
        done
      }

      """# + text, directory: try #require(TemporaryDirectory.current).path)
  }

  @Test(arguments: [
    "cp t.tar f", "zstd -qc t.tar > f", "zstd -qc < t.tar > f", "cat t.tar | zstd -qc --no-check > f",
    "cat t.tar | zstd -q --no-content-size -c > f", "zstd -q -19 --long=27 -c < t.tar > f",
    "pzstd -q -p 2 -c t.tar > f",
    "zstd -q --format=zstd -T2 -B100000 -c t.tar > f",
    "split -b 513 t.tar p.; head -n 0 /dev/null > f; for p in p.*; do zstd -qc $p; done >> f",
  ])
  func framings(_ make: String) throws { try run("\(make)\nall") }

  @Test(arguments: [
    "skip(b'h'), z(d)", "skip(b''), skip(b'x' * 3000000, 15), z(d)", "z(d), skip(b'', 7)",
    "z(d[:5120]), skip(b'm' * 150, 5), z(d[5120:]), skip(b'', 15), skip(b'end', 1)",
    "z(b''), z(d[:100]), z(b''), skip(b'-'), z(d[100:])",
    "*[z(d[i:i + 100000]) + skip(b's') for i in range(0, len(d), 100000)]",
    "skip(b'a' * 70000000, 3), z(d)",
  ])
  func skippableFrames(_ parts: String) throws {
    try run("python3 -c \"from frames import *; out(\(parts))\"\nall")
  }

  /// Reads of one byte, and pauses within headers.
  @Test func piecesOfOneByte() throws {
    try run(
      """
      cat > drip.py <<'END'
      import os, sys, time
      d = open(sys.argv[1], 'rb').read()
      for i in range(3000): os.write(1, d[i:i + 1])
      time.sleep(0.05)
      for i in range(3000, len(d), 997): os.write(1, d[i:i + 997])
      END
      zstd -qc t.tar > z; python3 -c 'from frames import *; out(*[z(d[i:i + 1000]) for i in range(0, len(d), 1000)])'
      $S create -q --no-sync ours s; mv f many
      for f in t.tar z many ours; do
        $S list - < <(python3 drip.py $f) > list; $S list $f | cmp - list
        $S extract -q --no-sync - out.$f < <(python3 drip.py $f); diff -r --no-dereference s out.$f/s
      done
      """)
  }

  // MARK: Ends

  @Test(
    arguments: [
      (": > f", 2, ""), ("head -c 1024 /dev/zero > f", 0, ""), ("head -c 10240 /dev/zero > f", 0, ""),
      ("(cat t.tar; head -c 51200 /dev/zero) > f", 0, ""), ("cat t.tar t.tar > f", 1, "after the end"),
      ("(cat t.tar; echo garbage) > f", 1, "after the end"), ("python3 trim.py 0 > f", 1, "end"),
      ("python3 trim.py 512 > f", 1, "end"), ("head -c 900000 t.tar > f", 2, "ends"), ("head -c 300 t.tar > f", 2, ""),
    ] as [(String, Int, String)])
  func ends(_ make: String, _ want: Int, _ text: String) throws {
    try run(
      #"""
      cat > trim.py <<'END'
      import sys
      d = open('t.tar', 'rb').read().rstrip(b'\0')
      d += b'\0' * (-len(d) % 512) + b'\0' * int(sys.argv[1])
      sys.stdout.buffer.write(d)
      END

      """# + """
        says() { if [ -n "$1" ]; then grep -q "$1" errors; elif [ \(want) = 0 ]; then test ! -s errors; fi; }
        \(make); zstd -qc f > f.zst; mkdir x
        for file in f f.zst; do
          [ -s f ] || [ $file = f ] || continue
          for command in list verify; do
            status \(want) $S $command $file > out 2> errors; says '\(text)'
            status \(want) $S $command - > out 2> errors < <(cat $file); says '\(text)'
          done
          status \(want) $S extract --no-sync $file x/$file > out 2> errors; says '\(text)'
          if [ \(want) = 2 ]; then test -z "$(ls -A x)"; else test -d x/$file; fi
          status \(want) $S extract --no-sync - x/$file.piped > out 2> errors < <(cat $file)
          if [ \(want) = 2 ]; then test -z "$(ls -A x)"; else diff -r --no-dereference x/$file x/$file.piped; fi
        done
        """)
  }

  /// Each is told by its name, whatever the command and whether it comes from a pipe.
  @Test(arguments: [
    ("gzip -c t.tar > f", "gzip"), ("xz -c t.tar > f", "xz"), ("bzip2 -c t.tar > f", "bzip2"),
    ("python3 -c 'import zipfile; z = zipfile.ZipFile(\"f\", \"w\"); z.write(\"names\")'", "zip"),
    ("bsdtar --format 7zip -cf f s", "7z"), ("head -c 100000 /dev/urandom > f", "tar"), ("seq 10000 > f", "tar"),
    ("zstd -qc names > f", "tar"),
  ]) func otherFormats(_ make: String, _ name: String) throws {
    try run(
      """
      \(make)
      for command in "list f" "verify f" "extract f out" "cat f s/d/numbers" "compare f s" "info f"; do
        status 2 $S $command > /dev/null 2> errors; grep -iq '\(name)' errors || { cat errors >&3; exit 95; }
        status 2 $S ${command/ f/ -} > /dev/null 2> errors < <(cat f); grep -iq '\(name)' errors || { cat errors >&3; exit 94; }
        test ! -e out
      done
      """)
  }

  @Test func dictionaryFrames() throws {
    try run(
      """
      mkdir samples; for i in $(seq 300); do seq $i $((i + 200)) > samples/$i; done
      zstd -q --train samples/* -o dictionary; zstd -q -D dictionary -c t.tar > f
      number=$(python3 -c 'print(int.from_bytes(open("dictionary", "rb").read()[4:8], "little"))')
      for command in "list f" "extract f out" "list -" "verify f"; do
        status 2 $S $command < f > /dev/null 2> errors; grep -q "dictionary.*$number" errors
      done
      """)
  }

  /// A window of 2 GiB is refused before any memory is taken for it, and read when the limit is raised.
  @Test(.disabled(if: Sanitizer.isOn, "judges memory")) func windows() throws {
    try run(
      """
      zstd -q --ultra --long=31 -c < t.tar > big; zstd -q --long=28 -c < t.tar > f
      ulimit -v 1500000
      for command in "list big" "verify big" "extract big out" "list -" "extract - out" "cat big s/random"; do
        status 2 $S $command < big > /dev/null 2> errors; grep -q -e --memory-limit errors; test ! -e out
      done
      ulimit -v unlimited 2> /dev/null || true
      $S list f --memory-limit 600M | cmp - names
      """)
  }

  /// Two archives of our own behind each other, and ours behind a foreign one.
  @Test func concatenatedArchives() throws {
    try run(
      """
      $S create -q --no-sync a s/d; $S create -q --no-sync b s/random; zstd -qc t.tar > z
      for pair in "a b" "z a"; do
        cat $pair > f
        for command in "list f" "verify f" "extract f out" "list -" "extract - out"; do
          got=0; $S $command < f > /dev/null 2> errors || got=$?; test $got != 0; test -s errors; rm -rf out
        done
      done
      """)
  }
}
