internal import ArchiveIO
internal import TestSupport
internal import Testing

/// `estimate` as a program, and what `create` makes of it.
@Suite(.inTemporaryDirectory())
struct CommandLineEstimateTests {
  private func directory() throws -> String {
    let path = try #require(TemporaryDirectory.current).path
    try Starc.makeTree(in: path)
    return path
  }

  private func object(_ result: ShellResult) throws -> [String: Any] {
    try #require(try Starc.objects(result.output).first)
  }

  @Test func fieldsAreThoseOfTheContractAndFitCreate() throws {
    let directory = try directory()
    let result = try Starc.run("estimate", "--json", "src", directory: directory)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errors.isEmpty)
    let estimate = try object(result)
    let names = [
      "entries", "files", "contentBytes", "storedBytes", "tarBytes", "archiveBytes", "archiveBytesLow",
      "archiveBytesHigh", "seconds", "sampledBytes", "warnings",
    ]
    #expect(Set(estimate.keys) == Set(names))
    let summary = try object(try Starc.run("create", "--json", "--no-sync", "a", "src", directory: directory))
    for name in ["entries", "files", "contentBytes", "tarBytes", "warnings"] {
      #expect(estimate[name] as? Int == summary[name] as? Int, "\(name)")
    }
    let (guess, truth) = (try #require(estimate["archiveBytes"] as? Int), try #require(summary["archiveBytes"] as? Int))
    #expect(abs(guess - truth) * 20 <= truth)
    #expect(try #require(estimate["archiveBytesLow"] as? Int) <= truth)
    #expect(try #require(estimate["archiveBytesHigh"] as? Int) >= truth)
    #expect(try #require(estimate["seconds"] as? Double) > 0)
    #expect(summary["estimatedBytes"] as? Int == guess)
  }

  /// Whatever selects files for `create` selects the same ones for `estimate`.
  @Test(arguments: [
    ["src"], ["-C", "src", "."], ["--exclude", "*o*", "src"], ["--files-from", "list"], ["--store", "src"],
    ["--level", "9", "src"], ["--chunk-size", "64K", "src"], ["src", "--threads", "3"], ["src/docs", "src"],
    ["--null", "-T", "list0"],
  ])
  func selectionIsThatOfCreate(_ arguments: [String]) throws {
    let directory = try directory()
    try Shell.script(
      #"printf 'src/docs\nsrc/random\ngone\n' > list; find src -type f -print0 > list0"#, directory: directory)
    let estimated = try Shell.run([Starc.path, "estimate", "--json"] + arguments, directory: directory)
    let created = try Shell.run(
      [Starc.path, "create", "--json", "--no-sync"] + ["a"] + arguments, directory: directory)
    #expect(estimated.status == created.status, "\(estimated.errorText)")
    #expect(estimated.errorText == created.errorText)
    let (estimate, summary) = (try object(estimated), try object(created))
    for name in ["entries", "files", "contentBytes"] {
      #expect(estimate[name] as? Int == summary[name] as? Int, "\(name)")
    }
  }

  @Test func textIsOneLine() throws {
    let directory = try directory()
    let result = try Starc.run("estimate", "src", directory: directory)
    #expect(result.status == 0)
    #expect(result.outputText.hasPrefix("12 entries, 300.0 kB: about 30"))
    #expect(result.outputText.split(separator: "\n").count == 1)
    #expect(try Starc.run("estimate", "--quiet", "src", directory: directory).output.isEmpty)
  }

  @Test func whatIsLeftOutIsNamed() throws {
    let directory = try directory()
    try Shell.script(
      "cd src; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'", directory: directory)
    let result = try Starc.run("estimate", "--json", "src", directory: directory)
    #expect(result.status == 1)
    #expect(result.errorText.contains("src/sock: is a socket"))
    #expect(try object(result)["warnings"] as? Int == 1)
  }

  @Test(arguments: [["estimate"], ["estimate", "--level", "0", "src"], ["estimate", "--verify-writes", "src"]])
  func wrongArguments(_ arguments: [String]) throws {
    #expect(try Shell.run([Starc.path] + arguments, directory: directory()).status == 64)
  }

  @Test func missingPathsAreNamed() throws {
    let result = try Starc.run("estimate", "nowhere", directory: directory())
    #expect(result.status == 2)
    #expect(result.errorText.contains("nowhere"))
  }

  /// The old archive, in whose place the new one comes, is no part of what is expected.
  @Test func theArchiveIsNotCountedItself() throws {
    let directory = try directory()
    try Shell.script("head -c 3000000 /dev/urandom > src/a.tar.zst", directory: directory)
    let summary = try object(
      try Starc.run("create", "--json", "--no-sync", "src/a.tar.zst", "src", directory: directory))
    let (guess, truth) = (
      try #require(summary["estimatedBytes"] as? Int), try #require(summary["archiveBytes"] as? Int)
    )
    #expect(abs(guess - truth) * 20 <= truth)
  }

  /// Nothing is written where it cannot fit, when somebody looks; a plain run finds out when it comes to it.
  @Test(.enabled(if: CommandLineOwnerTests.canMount, "needs the right to mount")) func tooLittleSpace() throws {
    let directory = try directory()
    let result = try Shell.run(
      [
        "unshare", "-m", "bash", "-c",
        """
        mkdir small; head -c 4000000 /dev/urandom > src/large; mount -t tmpfs -o size=2m none small
        \(Starc.path) create --json --no-sync small/a src; echo "status $?"; ls -A small
        """,
      ], directory: directory)
    #expect(result.outputText == "status 2\n")
    #expect(result.errorText.contains("the archive will have at least 4"))
    #expect(result.errorText.contains("free where it goes"))
  }
}

/// What a user cannot read is found by its mode and named, without a look at the other files.
@Suite(.enabled(if: ProcessFacts.effectiveUserID == 0, "needs root to become another user"))
struct UnreadableEstimateTests {
  @Test func unreadableFilesDoNotCount() throws {
    let place = try TemporaryDirectory(.memory)
    try Shell.script(
      "cp '\(Starc.path)' starc; chmod 755 starc; mkdir home; chown 65534:65534 home", directory: place.path)
    try Starc.expectSuccess(
      """
      cd home; mkdir -p src/closed; head -c 1000 /dev/zero > src/own; head -c 500 /dev/zero > src/none; chmod 0 src/none
      head -c 70 /dev/zero > src/closed/f; chmod 0 src/closed
      status 1 $S estimate --json src > estimate 2> errors
      grep -q 'src/none: ' errors; grep -q 'src/closed: ' errors
      grep -q '"contentBytes":1000,' estimate; grep -q '"warnings":2' estimate
      status 1 $S create --json --no-sync a src > summary 2> /dev/null; grep -q '"contentBytes":1000,' summary
      """, directory: place.path, tool: place.file("starc"), userID: Shell.plainUser)
  }
}
