internal import TestSupport
internal import Testing

/// The commands that read archives, as programs.
@Suite(.inTemporaryDirectory())
struct CommandLineReadTests {
  /// A directory with the tree "src" and its archive "a.tar.zst".
  private func directory() throws -> String {
    let path = try #require(TemporaryDirectory.current).path
    try Starc.makeTree(in: path)
    #expect(try Starc.run("create", "--no-sync", "-q", "a.tar.zst", "src", directory: path).status == 0)
    return path
  }

  // MARK: list

  @Test func namesAreEscapedOrExact() throws {
    let directory = try directory()
    let list = try Starc.run("list", "a.tar.zst", directory: directory)
    #expect(list.status == 0)
    let names = [
      "src/", #"src/back\\slash"#, #"src/bad\377name"#, "src/docs/", "src/docs/readme", "src/empty/", "src/fifo",
      "src/hard", "src/link", #"src/new\012line"#, "src/random", "src/ünï",
    ]
    #expect(list.outputText == names.map { $0 + "\n" }.joined())
    let exact = try Starc.run("list", "-0", "a.tar.zst", directory: directory)
    #expect(exact.output.last == 0)
    let raw = exact.output.split(separator: 0).map { Array($0) }
    #expect(raw.count == names.count)
    #expect(raw.contains(Array("src/bad".utf8) + [0xFF] + Array("name".utf8)))
    #expect(raw.contains(Array("src/new\nline".utf8)))
  }

  @Test func longListIsLikeThatOfLs() throws {
    let directory = try directory()
    let list = try Starc.run("list", "-l", "a.tar.zst", directory: directory)
    let lines = list.outputText.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    func line(_ name: String) throws -> [String] { try #require(lines.first { $0.contains(name) }, "\(name)") }
    let random = try line("src/random")
    #expect(random[0] == "-rwsr-xr-x")
    #expect(Array(random[2...]) == ["300000", "2024-02-29", "12:34", "src/random"])
    #expect(Array(try line("src/docs/readme")[2...]) == ["6", "1969-12-31", "23:58", "src/docs/readme"])
    #expect(Array(try line("src/hard").suffix(4)) == ["src/hard", "link", "to", "src/docs/readme"])
    #expect(Array(try line("src/link").suffix(3)) == ["src/link", "->", "docs/readme"])
    #expect(try line("src/link")[0] == "lrwxrwxrwx")
    #expect(try line("src/fifo")[0].first == "p")
    #expect(try line("src/empty/")[0].first == "d")
  }

  @Test func listAsJSON() throws {
    let directory = try directory()
    let list = try Starc.run("list", "--json", "a.tar.zst", directory: directory)
    let objects = try Starc.objects(list.output)
    #expect(objects.count == 12)
    let names = [
      "path", "type", "size", "mode", "uid", "gid", "user", "group", "mtime", "mtimeNanoseconds", "linkTarget", "hash",
      "chunks",
    ]
    for object in objects { #expect(Set(names).isSubset(of: object.keys)) }
    func object(_ path: String) throws -> [String: Any] {
      try #require(objects.first { $0["path"] as? String == path }, "\(path)")
    }
    let random = try object("src/random")
    #expect(random["type"] as? String == "file")
    #expect(random["mode"] as? String == "4755")
    #expect(random["size"] as? Int == 300_000)
    #expect(random["mtime"] as? Int == 1_709_210_096)
    let sum = try Shell.script("xxhsum -H2 src/random 2>/dev/null || true", directory: directory).prefix(32)
    if sum.count == 32 { #expect(random["hash"] as? String == String(sum)) }
    let readme = try object("src/docs/readme")
    #expect(readme["mtime"] as? Int == -61)
    #expect(readme["mtimeNanoseconds"] as? Int == 500_000_000)
    #expect(readme["pathBase64"] == nil)
    #expect(try object("src/hard")["type"] as? String == "hardlink")
    #expect(try object("src/hard")["linkTarget"] as? String == "src/docs/readme")
    #expect(try object("src/link")["linkTarget"] as? String == "docs/readme")
    #expect(try object("src/new\nline")["size"] as? Int == 1)
    // "src/bad\xFFname"
    #expect(try object("src/bad\u{FFFD}name")["pathBase64"] as? String == "c3JjL2JhZP9uYW1l")
  }

  @Test func closedStandardOutputIsAQuietEnd() throws {
    let directory = try directory()
    try Shell.script("cd src/empty; seq 1 5000 | xargs touch", directory: directory)
    for command in ["list b.tar.zst", "list -l b.tar.zst", "list --json b.tar.zst", "cat b.tar.zst src/random"] {
      let result = try Starc.script(
        "$S create -q --no-sync b.tar.zst src; $S \(command) | head -c 3 > /dev/null; exit ${PIPESTATUS[0]}",
        directory: directory)
      #expect(result.status == 0, "\(command)")
      #expect(result.errorText == "")
      #expect(try Starc.script("$S \(command) >&-", directory: directory).status == 0)
    }
    #expect(try Starc.script("$S list b.tar.zst > /dev/full", directory: directory).status == 2)
    #expect(try Starc.script("$S list - <&-", directory: directory).status == 2)
  }

  @Test func missingMembersAreNamed() throws {
    let directory = try directory()
    for command in ["list a.tar.zst src/docs src/nope", "cat a.tar.zst src/nope", "extract a.tar.zst out src/nope"] {
      let result = try Starc.script("$S \(command)", directory: directory)
      #expect(result.status == 2, "\(command)")
      #expect(result.errorText.contains("src/nope"))
    }
  }

  // MARK: cat, extract, compare

  @Test func contentComesFromFilesAndPipes() throws {
    let directory = try directory()
    let random = try FileTree.read(directory + "/src/random")
    #expect(try Starc.run("cat", "a.tar.zst", "src/random", directory: directory).output == random)
    let archive = try FileTree.read(directory + "/a.tar.zst")
    #expect(try Starc.run("cat", "-", "src/random", input: archive, directory: directory).output == random)
    #expect(try Starc.run("cat", "a.tar.zst", "src/hard", directory: directory).outputText == "hello\n")
    // The content of a hard link has gone by when the link comes out of a pipe: it says where to look.
    let pipe = try Starc.script("cat a.tar.zst | $S cat - src/hard", directory: directory)
    #expect(pipe.status == 2 && pipe.errorText.contains("src/docs/readme"))
  }

  @Test func extractedTreeEqualsTheArchive() throws {
    let directory = try directory()
    let extract = try Starc.run("extract", "--json", "--same-permissions", "a.tar.zst", "out", directory: directory)
    #expect(extract.status == 0, "\(extract.errorText)")
    #expect(try Starc.objects(extract.output).first?["entries"] as? Int == 12)
    #expect(try Starc.run("compare", "a.tar.zst", "out", directory: directory).status == 0)
    #expect(try Shell.script("diff -r src/docs out/src/docs", directory: directory) == "")

    try Shell.script(
      "rm out/src/link; echo x > out/src/extra; printf HELLO > out/src/docs/readme", directory: directory)
    let text = try Starc.run("compare", "a.tar.zst", "out", directory: directory)
    #expect(text.status == 1)
    for name in ["src/link: ", "src/extra: ", "src/docs/readme: "] { #expect(text.outputText.contains(name)) }
    let json = try Starc.run("compare", "--json", "a.tar.zst", "out", directory: directory)
    #expect(json.status == 1)
    #expect(try Starc.objects(json.output).count == text.outputText.split(separator: "\n").count)
  }

  @Test func existingFilesFollowOverwrite() throws {
    let directory = try directory()
    try Shell.script("mkdir -p out/src/docs; printf mine > out/src/docs/readme", directory: directory)
    func content() throws -> String { try Shell.script("cat out/src/docs/readme", directory: directory) }
    #expect(try Starc.run("extract", "a.tar.zst", "out", "src/docs", directory: directory).status == 2)
    #expect(try content() == "mine")
    let keep = try Starc.run("extract", "a.tar.zst", "out", "src/docs", "--overwrite", "keep", directory: directory)
    #expect(keep.status < 2)
    #expect(try content() == "mine")
    let replace = try Starc.run("extract", "a.tar.zst", "out", "src/docs", "--overwrite=replace", directory: directory)
    #expect(replace.status == 0)
    #expect(try content() == "hello\n")
  }

  @Test(arguments: [["--max-size", "100K"], ["--max-entries", "3"]])
  func limitsEndTheRun(_ limit: [String]) throws {
    let directory = try directory()
    let result = try Shell.run([Starc.path, "extract", "a.tar.zst", "out"] + limit, directory: directory)
    #expect(result.status == 2)
    #expect(result.errorText.contains(limit[0]))
    #expect(try Shell.script("ls -A", directory: directory) == "a.tar.zst\nsrc\n")
  }

  // MARK: verify, info

  @Test(arguments: [[], ["--quick"]])
  func damageIsNamed(_ options: [String]) throws {
    let directory = try directory()
    let command = [Starc.path, "verify", "--json", "a.tar.zst"] + options
    let whole = try Shell.run(command, directory: directory)
    #expect(whole.status == 0, "\(whole.errorText)")
    let good = try #require(try Starc.objects(whole.output).first)
    #expect(good["ok"] as? Bool == true)
    #expect(good["damagedChunks"] as? Int == 0)
    #expect(Set(["ok", "chunks", "damagedChunks", "entries", "bytes", "digest"]).isSubset(of: good.keys))

    var bytes = try FileTree.read(directory + "/a.tar.zst")
    bytes[bytes.count / 2] ^= 0x10
    try FileTree.write(bytes, to: directory + "/a.tar.zst")
    let damaged = try Shell.run(command, directory: directory)
    #expect(damaged.status == 2)
    let bad = try #require(try Starc.objects(damaged.output).first)
    #expect(bad["ok"] as? Bool == false)
    #expect(bad["damagedChunks"] as? Int == 1)
    #expect(damaged.errorText.contains("chunk ") && damaged.errorText.contains("src/random"), "\(damaged.errorText)")
    #expect(try Starc.run("verify", "-q", "a.tar.zst", directory: directory).errors.isEmpty == false)
  }

  @Test func truncatedArchivesFail() throws {
    let directory = try directory()
    let archive = try FileTree.read(directory + "/a.tar.zst")
    for count in [0, 1, 100, archive.count / 2, archive.count - 1] {
      try FileTree.write(Array(archive.prefix(count)), to: directory + "/cut")
      let result = try Starc.run("verify", "--json", "cut", directory: directory)
      #expect(result.status == 2, "\(count) bytes")
      #expect(try Starc.objects(result.output).first?["ok"] as? Bool == false, "\(count) bytes")
    }
  }

  @Test func infoTellsTotals() throws {
    let directory = try directory()
    let info = try #require(
      try Starc.objects(try Starc.run("info", "--json", "a.tar.zst", directory: directory).output).first)
    let names = [
      "formatVersion", "entries", "files", "contentBytes", "tarBytes", "archiveBytes", "chunks", "chunkSize", "level",
      "indexed", "digest", "manifest",
    ]
    #expect(Set(info.keys) == Set(names))
    #expect(info["entries"] as? Int == 12)
    #expect(info["indexed"] as? Bool == true)
    #expect(info["manifest"] is [String: Any])
    let text = try Starc.run("info", "a.tar.zst", directory: directory).outputText
    #expect(text.contains("chunk size:  4,194,304 bytes (4.2 MB)"))

    try Shell.script("tar -cf plain.tar src", directory: directory)
    let plain = try #require(
      try Starc.objects(try Starc.run("info", "--json", "plain.tar", directory: directory).output).first)
    #expect(plain["indexed"] as? Bool == false)
    #expect(plain["entries"] as? Int == 12)
    #expect(plain["contentBytes"] as? Int == info["contentBytes"] as? Int)
  }
}
