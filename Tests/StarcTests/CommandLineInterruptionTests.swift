internal import TestSupport
internal import Testing

/// Runs that are ended from outside leave nothing behind.
@Suite(.inTemporaryDirectory())
struct CommandLineInterruptionTests {
  private func directory() throws -> String {
    let path = try #require(TemporaryDirectory.current).path
    // At level 19 with one thread this takes many seconds.
    try Shell.script("mkdir src; seq 1 9000000 > src/numbers", directory: path)
    return path
  }

  /// Starts a long run, and goes on once it writes.
  private let start = """
    $S create --level 19 --threads 1 a.tar.zst src & pid=$!
    while [ ! -e .a.tar.zst.starc-partial.tmp ] && kill -0 $pid; do sleep 0.01; done

    """

  @Test(arguments: [("INT", Int32(130)), ("TERM", 143)])
  func signalLeavesTheOldFile(_ name: String, _ status: Int32) throws {
    let directory = try directory()
    try Shell.script("printf old > a.tar.zst", directory: directory)
    let result = try Starc.script(start + "kill -\(name) $pid; wait $pid", directory: directory)
    #expect(result.status == status)
    #expect(result.errorText == "starc: cancelled\n")
    #expect(try Shell.script("ls -A; cat a.tar.zst", directory: directory) == "a.tar.zst\nsrc\nold")
  }

  @Test func killedRunIsCleanedUpByTheNext() throws {
    let directory = try directory()
    let killed = try Starc.script(start + "kill -KILL $pid; wait $pid", directory: directory)
    #expect(killed.status == 137)
    #expect(try !Shell.script("ls -A", directory: directory).contains("\na.tar.zst"))
    try Shell.script("echo small > src/numbers", directory: directory)
    #expect(try Starc.run("create", "a.tar.zst", "src", directory: directory).status == 0)
    #expect(try Shell.script("ls -A", directory: directory) == "a.tar.zst\nsrc\n")
  }

  @Test func secondRunOnTheSameArchiveIsRefused() throws {
    let directory = try directory()
    let result = try Starc.script(
      start + "$S create a.tar.zst src; second=$?; kill -INT $pid; wait $pid; exit $second", directory: directory)
    #expect(result.status == 2)
    #expect(result.errorText.contains("another run"))
  }

  /// A reader that has stopped does not keep a cancelled run from ending; nor does a list that never comes.
  @Test func blockedRunsEnd() throws {
    let directory = try directory()
    let output = try Starc.script(
      """
      mkfifo pipe; sleep 60 < pipe & sleeper=$!
      $S create --store - src > pipe & pid=$!
      exec 3> /dev/null; sleep 0.3; kill -TERM $pid; wait $pid; status=$?; kill -KILL $sleeper; exit $status
      """, directory: directory)
    #expect(output.status == 143)
    let input = try Starc.script(
      """
      mkfifo list; sleep 60 > list & sleeper=$!
      $S create a.tar.zst --files-from - < list & pid=$!
      sleep 0.3; kill -INT $pid; wait $pid; status=$?; kill -KILL $sleeper; exit $status
      """, directory: directory)
    #expect(input.status == 130)
    #expect(try !Shell.script("ls -A", directory: directory).contains("a.tar.zst"))
  }

  @Test func fullDiskLeavesNothing() throws {
    let directory = try directory()
    let result = try Starc.script("ulimit -f 1000; $S create --store a.tar.zst src", directory: directory)
    #expect(result.status == 2)
    #expect(result.errorText.contains("File too large"))
    #expect(try Shell.script("ls -A", directory: directory) == "src\n")
  }
}
