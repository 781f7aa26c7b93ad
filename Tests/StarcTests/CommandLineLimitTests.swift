internal import TestSupport
internal import Testing

/// What an archive may ask for, as options of the commands that read.
@Suite(.inTemporaryDirectory(.memory)) struct CommandLineLimitTests {
  private func run(_ text: String) throws {
    try Starc.expectSuccess(text, directory: try #require(TemporaryDirectory.current).path)
  }

  /// However large the chunks, decoding stays within the memory that is allowed (and 24 MiB for the program itself), or is refused.
  @Test(.disabled(if: Sanitizer.isOn, "judges memory"), arguments: ["64K", "4M", "32M"])
  func memoryLimit(_ chunkSize: String) throws {
    try run(
      """
      mkdir -p t/src; head -c 90000000 /dev/zero > t/src/z; head -c 40000000 /dev/urandom > t/src/r
      $S create -q --no-sync --level 1 --chunk-size \(chunkSize) -C t a src; refused=0
      for limit in 1 16 48 128 400; do
        for command in "extract --no-sync a out" "verify a" "compare a t" "cat a src/r"; do
          code=0; kib=$(peak $S $command -q --threads 8 --memory-limit ${limit}M 2> errors) || code=$?
          [ $kib -lt $(((limit + 24) * 1024)) ] || { echo "$command takes $kib KiB of $limit MiB" >&3; exit 97; }
          [ $code = 0 ] || { test $code = 2; grep -q -e --memory-limit errors; refused=$limit; test ! -e out; }
          rm -rf out
        done
      done
      # What is allowed by default does for every archive that the tool makes.
      test $refused -lt 128; test $refused = \(chunkSize == "32M" ? 48 : chunkSize == "4M" ? 16 : 1)
      """)
  }

  /// At the limit all is well, one over it nothing appears; for members and their bytes, with an index, without one and from a pipe.
  @Test func limitsAreExact() throws {
    try run(
      """
      mkdir src; printf 12345 > src/a; printf 678 > src/b; ln -s a src/l; ln src/a src/h; mkdir src/d
      $S create -q --no-sync a.zst src; tar -cf a.tar src
      for file in a.zst a.tar; do for source in $file -; do
        x() { $S extract -q --no-sync "$@" $source out < <(cat $file) 2> errors; }
        x --max-entries 6; rm -r out; status 2 x --max-entries 5; grep -q -e --max-entries errors; test ! -e out
        x --max-size 8; rm -r out; status 2 x --max-size 7; grep -q -e --max-size errors; test ! -e out
      done; done
      # Into a directory that exists, an index shows it before anything is made.
      mkdir out; status 2 $S extract -q --max-entries 5 a.zst out 2> errors; test -z "$(ls -A out)"
      """)
  }

  /// Directories that are no members, but have to be made for one, are as many as members at most.
  @Test func impliedDirectoriesAreLimited() throws {
    try run(
      """
      mkdir -p 1/2/3/4/5; touch 1/2/3/4/5/f; tar -cf a.tar 1/2/3/4/5/f; zstd -q a.tar -o a.zst
      for file in a.tar a.zst; do
        $S extract -q --no-sync --max-entries 5 $file out; test -e out/1/2/3/4/5/f; rm -r out
        status 2 $S extract -q --no-sync --max-entries 4 $file out 2> errors
        grep -q 'directories that are no members; raise --max-entries' errors; test ! -e out
      done
      """)
  }

  @Test func ratioCountsFromOneMebibyte() throws {
    try run(
      """
      head -c 1M /dev/zero > small; head -c 8M /dev/zero > large
      for f in small large; do $S create -q --no-sync $f.zst $f; tar -c $f | zstd -q -19 > $f.tzst; done
      for kind in zst tzst; do for pipe in true false; do
        x() { if $pipe; then cat $1.$kind | $S extract -q --no-sync --max-ratio $2 - out; else $S extract -q --no-sync --max-ratio $2 $1.$kind out; fi; }
        x small 1; rm -r out
        status 2 x large 100 2> errors; grep -q -e --max-ratio errors; test ! -e out
        x large 100000; cmp large out/large; rm -r out
      done; done
      """)
  }
}
