internal import TestSupport
internal import Testing

/// `create` as a program: where archives go, what is left after a failure, what is reported.
@Suite(.inTemporaryDirectory())
struct CommandLineCreateTests {
  private func directory() throws -> String {
    let path = try #require(TemporaryDirectory.current).path
    try Starc.makeTree(in: path)
    return path
  }

  @Test func summaryIsJSONWithAllFields() throws {
    let directory = try directory()
    let result = try Starc.run("create", "--json", "a.tar.zst", "src", directory: directory)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.errors.isEmpty)
    let summary = try #require(try Starc.objects(result.output).first)
    let names = [
      "entries", "files", "contentBytes", "tarBytes", "archiveBytes", "chunks", "storedChunks", "seconds",
      "estimatedBytes", "digest", "warnings",
    ]
    #expect(Set(summary.keys) == Set(names))
    #expect(summary["entries"] as? Int == 12)
    #expect(summary["files"] as? Int == 6)
    #expect(summary["contentBytes"] as? Int == 300_010)
    #expect(summary["archiveBytes"] as? Int == (try FileTree.read(directory + "/a.tar.zst")).count)
    #expect((summary["digest"] as? String)?.count == 32)
    #expect(summary["warnings"] as? Int == 0)
  }

  @Test func standardOutputCarriesTheSameBytes() throws {
    let directory = try directory()
    let file = try Starc.run("create", "a.tar.zst", "src", directory: directory)
    #expect(file.status == 0)
    let stream = try Starc.run("create", "--json", "--progress", "always", "-", "src", directory: directory)
    #expect(stream.status == 0)
    #expect(try FileTree.read(directory + "/a.tar.zst") == stream.output)
    // The summary has to go somewhere else, behind the progress.
    let lines = try Starc.objects(stream.errors)
    #expect(lines.last?["entries"] as? Int == 12)
    let device = try Starc.script(
      "$S create /dev/stdout src > b.tar.zst && cmp a.tar.zst b.tar.zst", directory: directory)
    #expect(device.status == 0, "\(device.errorText)")
    let pipe = try Starc.script(
      "$S create --threads 1 - src | cat > c.tar.zst; cmp a.tar.zst c.tar.zst", directory: directory)
    #expect(pipe.status == 0, "\(pipe.errorText)")
  }

  @Test func terminalIsRefused() throws {
    let directory = try directory()
    for name in ["-", "/dev/stdout"] {
      let result = try Starc.script(
        #"script -qec "$S create \#(name) src" /dev/null < /dev/null"#, directory: directory)
      #expect(result.status == 64, "\(name)")
      #expect(result.outputText.contains("terminal"))
    }
  }

  @Test func closedPipeEndsQuietly() throws {
    let directory = try directory()
    let result = try Starc.script(
      #"$S create --store - src | head -c 5 > /dev/null; exit ${PIPESTATUS[0]}"#, directory: directory)
    #expect(result.status == 141)
    #expect(result.errorText == "")
    // Without a standard output nothing else may take its number.
    let closed = try Starc.script("$S create a.tar.zst src >&- && $S verify a.tar.zst", directory: directory)
    #expect(closed.status == 0, "\(closed.errorText)")
    let nowhere = try Starc.script("$S create - src >&-", directory: directory)
    #expect(nowhere.status == 2)
  }

  @Test func leadingSlashIsDroppedWithOneNotice() throws {
    let directory = try directory()
    let (first, second) = (directory + "/src/docs", directory + "/src/link")
    let result = try Starc.run("create", "a.tar.zst", first, second, directory: directory)
    #expect(result.status == 0)
    #expect(result.errorText.split(separator: "\n").count == 1)
    let list = try Starc.run("list", "a.tar.zst", directory: directory).outputText
    #expect(list == "\(first.dropFirst())/\n\(first.dropFirst())/readme\n\(second.dropFirst())\n")
    let quiet = try Starc.run("create", "--quiet", "a.tar.zst", first, directory: directory)
    #expect(quiet.errors.isEmpty && quiet.output.isEmpty)
  }

  @Test func listsOfFiles() throws {
    let directory = try directory()
    let whole = try Starc.run("create", "--json", "a.tar.zst", "src", directory: directory)
    #expect(whole.status == 0)
    // A list names a directory and all that is in it, with bytes and newlines as they are.
    let listed = try Starc.script(
      "find src -print0 | $S create b.tar.zst --null --files-from - && cmp a.tar.zst b.tar.zst", directory: directory)
    #expect(listed.status == 0, "\(listed.errorText)")
    let lines = try Starc.script(
      #"printf 'src/docs/readme\nsrc/gone\n\nsrc/link\nsrc/docs/readme\n' > l; $S create c.tar.zst -T l; echo $?; $S list c.tar.zst"#,
      directory: directory)
    #expect(lines.outputText.hasSuffix("\n1\nsrc/docs/readme\nsrc/link\n"), "\(lines.outputText)")
    #expect(lines.errorText.contains("src/gone"))
    let climbing = try Starc.script("echo ../x | $S create d.tar.zst -T -", directory: directory)
    #expect(climbing.status == 64)
  }

  /// Patterns are matched from any "/" on, take in what lies in a directory, and hold for every path and list.
  @Test(arguments: [
    ("*.o", "d/ d/a d/b.o.c d/sub/ d/sub/x"), ("sub", "d/ d/a d/a.o d/b.o.c"),
    ("d/a", "d/ d/a.o d/b.o.c d/sub/ d/sub/a.o d/sub/x"),
    ("?.o", "d/ d/a d/b.o.c d/sub/ d/sub/x"), ("[!ad]", "d/ d/a d/a.o d/b.o.c d/sub/ d/sub/a.o"),
    ("d/*/x", "d/ d/a d/a.o d/b.o.c d/sub/ d/sub/a.o"),
    ("none", "d/ d/a d/a.o d/b.o.c d/sub/ d/sub/a.o d/sub/x"), ("d", ""),
  ])
  func patternsLeaveOut(_ pattern: String, _ names: String) throws {
    let directory = try #require(TemporaryDirectory.current).path
    try Shell.script("mkdir -p d/sub; touch d/a d/a.o d/b.o.c d/sub/a.o d/sub/x", directory: directory)
    for source in ["d", "-T list", "d/sub d", "-C . ./d"] {
      let result = try Starc.script(
        "find d > list; $S create -q --no-sync a --exclude '\(pattern)' \(source) && $S list a | sort | tr '\\n' ' '",
        directory: directory)
      let listed = result.outputText.split(separator: " ").sorted()
      #expect(result.status == 0 && result.errorText == "", "\(source): \(result.errorText)")
      #expect(listed == names.split(separator: " ").sorted(), "\(source)")
    }
  }

  /// Several patterns and lists are taken together; a name that begins with "-" in a list is a name.
  @Test func patternsAndListsTogether() throws {
    let directory = try #require(TemporaryDirectory.current).path
    let result = try Starc.script(
      """
      mkdir -p in/d; touch in/d/a in/d/b in/d/c in/-x "in/ y" in/z; printf -- '-x\n y\r\nz' > list
      $S create --no-sync -C in a d --files-from list --exclude b --exclude c 2> errors > /dev/null; echo $?
      $S list a; grep -c y errors
      """, directory: directory)
    #expect(result.outputText == "1\nd/\nd/a\n-x\nz\n1\n", "\(result.outputText)")
  }

  /// What lies behind a symlink is not taken in by the directory that holds the link.
  @Test func pathsBehindLinksAreNotTakenForCovered() throws {
    let directory = try directory()
    try Shell.script("mkdir other; echo o > other/file; ln -s ../other src/away", directory: directory)
    let result = try Starc.run("create", "a.tar.zst", "src", "src/away/file", directory: directory)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try Starc.run("list", "a.tar.zst", directory: directory).outputText.contains("src/away/file\n"))
  }

  @Test func whatIsLeftOutIsNamedAndTheStatusIsOne() throws {
    let directory = try directory()
    try Shell.script(
      #"python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('src/socket')""#, directory: directory)
    let result = try Starc.run("create", "--json", "a.tar.zst", "src", directory: directory)
    #expect(result.status == 1)
    #expect(result.errorText.contains("starc: src/socket: "))
    #expect(try Starc.objects(result.output).first?["warnings"] as? Int == 1)
    let quiet = try Starc.run("create", "-q", "a.tar.zst", "src", directory: directory)
    #expect(quiet.status == 1)
    #expect(quiet.errors.isEmpty && quiet.output.isEmpty)
  }

  @Test func progressNeverGoesBackAndEndsAtHundred() throws {
    let directory = try directory()
    try Shell.script("seq 1 6000000 > src/numbers", directory: directory)
    let json = try Starc.run("create", "--json", "--progress", "always", "a.tar.zst", "src", directory: directory)
    #expect(json.status == 0)
    let events = try Starc.objects(json.errors)
    #expect(events.allSatisfy { $0["event"] as? String == "progress" })
    let percents = events.compactMap { $0["percent"] as? Int }
    #expect(percents.count == events.count && percents.count >= 2)
    #expect(percents == percents.sorted())
    #expect(percents.last == 100)
    #expect(percents.dropLast().allSatisfy { $0 < 100 })
    #expect(events.last?["bytes"] as? Int == events.last?["totalBytes"] as? Int)
    let text = try Starc.run("create", "--progress", "always", "a.tar.zst", "src", directory: directory)
    let lines = text.errorText.split(separator: "\n")
    #expect(lines.last?.contains(" 100 % ") == true, "\(text.errorText)")
    #expect(!text.errorText.contains("\u{1B}"))
    #expect(try Starc.run("create", "a.tar.zst", "src", directory: directory).errors.isEmpty)
  }

  /// The bar fits in the terminal, and a warning has a line of its own.
  @Test func barOnATerminal() throws {
    let directory = try directory()
    try Shell.script(
      #"python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('src/socket')""#, directory: directory)
    let result = try Starc.script(
      #"script -qec "stty cols 60; $S create a.tar.zst src" /dev/null < /dev/null"#, directory: directory)
    let drawn = result.outputText.split(whereSeparator: { $0 == "\r" || $0 == "\n" || $0 == "\r\n" })
    #expect(drawn.contains("\u{1B}[Kstarc: src/socket: is a socket; left out"), "\(result.outputText)")
    let bars = drawn.filter { $0.hasPrefix("create ") }.map { $0.replacing("\u{1B}[K", with: "") }
    #expect(bars.last?.contains("100 %") == true)
    #expect(bars.allSatisfy { $0.count < 60 })
  }
}
