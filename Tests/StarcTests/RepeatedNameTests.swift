internal import Foundation
internal import TestSupport
internal import Testing

/// Archives in which names come again as something else, while links to them wait.
@Suite(.inTemporaryDirectory(.memory)) struct RepeatedNameTests {
  private static let tools = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Tools/faults").path

  /// A file, a link of its name whose target is nowhere, a directory and again a link of that name: what links to the name means the last.
  @Test func aNameThatADirectoryHadBetweenTwoLinks() throws {
    try Starc.expectSuccess(
      #"""
      python3 - <<'P'
      import tarfile
      with tarfile.open("a.tar", "w") as tar:
          def add(name, type, link=""):
              info = tarfile.TarInfo(name)
              info.type, info.linkname, info.mode = type, link, 0o755
              tar.addfile(info)
          add("d/first", tarfile.SYMTYPE, "x")
          add("d/name", tarfile.REGTYPE)
          add("d/name", tarfile.LNKTYPE, "d/nowhere")
          add("d/name", tarfile.DIRTYPE)
          add("d/name", tarfile.LNKTYPE, "d/first")
          add("d/last", tarfile.LNKTYPE, "d/name")
      P
      mkdir old
      for out in new old; do
        status 1 $S extract --no-sync --lenient --overwrite replace a.tar $out > /dev/null 2> $out.err
        test "$(readlink $out/d/name $out/d/last | tr '\n' ' ')" = 'x x '
        test "$(stat -c %i $out/d/first)" = "$(stat -c %i $out/d/last)"
        grep -q 'd/name: hard link to "d/nowhere"' $out.err; test $(wc -l < $out.err) = 1
      done
      """#, directory: try #require(TemporaryDirectory.current).path)
  }

  /// Whatever the order: a new destination and one that exists give the same tree and the same words.
  @Test func newAndExistingDestinationsAreTheSame() throws {
    let seed = UInt32.random(in: 0...UInt32.max)
    let directory = try #require(TemporaryDirectory.current).path
    let result = try Shell.run(
      [
        "python3", "-c",
        #"""
        import os, random, subprocess, sys
        starc, tools, seed = sys.argv[1:]
        sys.path.insert(0, tools)
        sys.dont_write_bytecode = True
        from races import hostile_tar, strip
        from tool import snapshot
        generator = random.Random(int(seed))
        for number in range(60):
            tar = hostile_tar(generator, (20, 60, 200)[number % 3])
            with open("a.tar", "wb") as file:
                file.write(tar)
            found = []
            for isOld in (False, True):
                subprocess.run(["rm", "-rf", "out"], check=True)
                if isOld:
                    os.mkdir("out")
                run = subprocess.run(
                    [starc, "extract", "--no-sync", "--lenient", "--overwrite", "replace", "--threads", "1", "a.tar", "out"],
                    capture_output=True)
                found.append((run.returncode, strip(snapshot("out"), tar), sorted(run.stderr.splitlines())))
            if found[0] != found[1]:
                sys.exit(f"archive {number} of seed {seed} differs")
        """#, Starc.path, Self.tools, String(seed),
      ], directory: directory)
    #expect(result.status == 0, "\(result.errorText)")
  }
}
