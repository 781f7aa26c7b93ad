internal import TestSupport
internal import Testing

/// Archives that try to write, link or change something outside of the destination.
@Suite struct FailureModesEscapeTests {
  static let names: [FailureMode] = [
    .refused("names with ..", says: "..", leaves: ["ok=1"], names: ["ok"]) { _ in
      [Tar.entry("ok", "1"), Tar.entry("../e1", "2"), Tar.entry("a/../../e2", "3")]
    },
    .refused("a .. that cancels itself", says: "..", leaves: ["ok=1"], names: ["ok"]) { _ in
      [Tar.entry("ok", "1"), Tar.entry("a/../b", "2")]
    },
    .refused("a name that ends in ..", says: "..", leaves: [], names: []) { _ in [Tar.directory("a/..")] },
    .refused("absolute names, one with ..", says: "..", leaves: ["abs/", "abs/e=4", "x=6"], names: ["abs/e", "x"]) {
      _ in [Tar.entry("/abs/e", "4"), Tar.entry("/../e4", "5"), Tar.entry("//x", "6")]
    },
    .accepted("absolute names", makes: ["abs/", "abs/e=4", "x=6"], names: ["abs/e", "x"]) { _ in
      [Tar.entry("/abs/e", "4"), Tar.entry("//x", "6")]
    },
    .refused(".. in a pax path", says: "..", leaves: []) { outside in
      [Tar.pax(("path", "../outside/keep")), Tar.entry("fine", "1")]
    },
    .refused(".. in a GNU long name", says: "..", leaves: []) { outside in
      [Tar.long("a/../../outside/keep"), Tar.entry("fine", "1")]
    },
    .refused(".. through the ustar prefix", says: "..", leaves: []) { _ in
      [Tar.entry("keep", "1") { $0.prefix = "../outside" }]
    },
    .refused(".. in the name of a sparse file", says: "..", leaves: []) { _ in
      [Tar.sparse("1\n0\n512\n", Bytes(repeating: "q", count: 512), size: "512", name: "../outside/keep")]
    },
    .refused("a name with a NUL", says: "NUL", leaves: []) { _ in
      [Tar.pax(("path", "x\u{0}/../../outside/keep")), Tar.entry("fine", "1")]
    },
  ]

  static let links: [FailureMode] = [
    .refused("write through an absolute symlink", says: "l/pwn: lies below \"l\"", leaves: ["l -> OUTSIDE", "m=y"]) {
      outside in
      [
        Tar.symlink("l", to: Bytes(outside)), Tar.entry("l/pwn", "x"), Tar.symlink("m", to: Bytes(outside + "/keep")),
        Tar.entry("m", "y"),
      ]
    },
    .refused("write through a relative symlink", says: "l/keep", leaves: ["l -> ../outside"]) { _ in
      [Tar.symlink("l", to: "../outside"), Tar.entry("l/keep", "x"), Tar.directory("l/sub")]
    },
    .refused("a symlink below a symlink", says: "l/m", leaves: ["l -> ../outside"]) { _ in
      [Tar.symlink("l", to: "../outside"), Tar.symlink("l/m", to: "x"), Tar.hardLink("l/h", to: "l")]
    },
    .accepted("a file takes the place of a symlink", makes: ["m=y"]) { _ in
      [Tar.symlink("m", to: "../outside/keep"), Tar.entry("m", "y")]
    },
    .accepted("a symlink in place of a file", makes: ["f -> ../outside/keep"]) { _ in
      [Tar.entry("f", "1") { $0.mode = 0o600 }, Tar.symlink("f", to: "../outside/keep")]
    },
    .refused(
      "a directory that became a symlink is not remembered as one", says: "p/q/x: lies below \"p/q\"",
      leaves: ["p/", "p/q -> ../../outside"]
    ) { _ in
      [
        Tar.directory("p/"), Tar.directory("p/q/"), Tar.symlink("p/q", to: "../../outside"), Tar.entry("p/q/x", "1"),
      ]
    },
  ]

  static let hardLinks: [FailureMode] = [
    .refused("hard link to a file outside", says: "which is not a file that this run has made", leaves: []) { outside in
      [Tar.hardLink("h", to: Bytes(outside + "/keep"))]
    },
    .refused("hard link with .. in its target", says: "..", leaves: []) { _ in
      [Tar.hardLink("h", to: "../outside/keep")]
    },
    .refused("hard link outside, then a file of its name", says: "which is not a file", leaves: ["h=over"]) { outside in
      [Tar.hardLink("h", to: Bytes(outside + "/keep")), Tar.entry("h", "over")]
    },
    .refused(
      "hard link through a chain of symlinks", says: "a/esc/keep",
      leaves: ["a/", "a/b/", "a/b/up -> ../..", "a/esc -> b/up/../outside"]
    ) { _ in
      [
        Tar.symlink("a/b/up", to: "../.."), Tar.symlink("a/esc", to: "b/up/../outside"),
        Tar.hardLink("x", to: "a/esc/keep"),
      ]
    },
    .accepted(
      "hard link to a symlink is a second name of it", makes: ["h -> ../outside/keep", "s -> ../outside/keep"]
    ) { _ in [Tar.symlink("s", to: "../outside/keep"), Tar.hardLink("h", to: "s")] },
    .accepted("a file takes the place of such a name", makes: ["h=new", "s -> ../outside/keep"]) { _ in
      [Tar.symlink("s", to: "../outside/keep"), Tar.hardLink("h", to: "s"), Tar.entry("h", "new")]
    },
  ]

  static let replacements: [FailureMode] = [
    .accepted("a directory in place of a symlink: its mode and time are not those of the target", makes: ["d/"]) { _ in
      [Tar.symlink("d", to: "../outside"), Tar.directory("d/", mode: 0o700)]
    },
    .accepted("a symlink in place of an empty directory whose mode is still to be set", makes: ["d -> ../outside"]) {
      _ in [Tar.directory("d/", mode: 0o700), Tar.symlink("d", to: "../outside")]
    },
    .refused("a symlink in place of a full directory", says: "not empty", leaves: ["d/", "d/c=1", "d/e=2"]) { _ in
      [Tar.directory("d/"), Tar.entry("d/c", "1"), Tar.symlink("d", to: "../outside"), Tar.entry("d/e", "2")]
    },
  ]

  /// A symlink behind more than `PATH_MAX` bytes of directories is seen like any other.
  @Test func deepSymlinkIsNotFollowed() throws {
    let stage = try FailureModeStage()
    let deep = Array(repeating: String(repeating: "n", count: 200), count: 30).joined(separator: "/")
    try stage.write(
      Tar.pax(("path", Bytes(deep + "/l"))) + Tar.symlink("x", to: Bytes(stage.path + "/outside"))
        + Tar.pax(("path", Bytes(deep + "/l/pwn"))) + Tar.entry("x", "1")
        + Tar.pax(("path", Bytes(deep + "/fine"))) + Tar.entry("x", "2") + Tar.end, "f.tar")
    for (options, status) in [([], 2), (["--lenient"], 1)] as [([String], Int32)] {
      let result = try stage.run(["extract", "f.tar", "out", "--no-sync"] + options)
      #expect(result.status == status, "\(result.errorText)")
      #expect(result.errorText.contains("/l/pwn: lies below"))
      let script = "ls -A outside; test ! -e out || find out -type f -size 1c | wc -l; ls -A"
      let expected =
        "keep\ntwin\n" + (status == 2 ? "" : "1\n") + "f.tar\n" + (status == 2 ? "" : "out\n") + "outside\n"
      #expect(try Starc.script(script, directory: stage.path).outputText == expected)
    }
  }

  /// Links that an earlier archive left in the destination are not followed either.
  @Test(arguments: ["fail", "keep", "replace"])
  func linksOfAnEarlierArchive(_ policy: String) throws {
    let seconds: [(archive: [UInt8], replaced: [String])] = [
      (Tar.entry("x/pwn", "1") + Tar.end, ["x/", "x/pwn=1"]), (Tar.directory("x/", mode: 0o700) + Tar.end, ["x/"]),
      (Tar.entry("x", "file") + Tar.end, ["x=file"]),
      (Tar.entry("f", "1") + Tar.hardLink("h", to: "x/keep") + Tar.end, ["f=1", "x -> ../outside"]),
    ]
    for (second, replaced) in seconds {
      for options in [[], ["--lenient"]] as [[String]] {
        let stage = try FailureModeStage()
        try stage.write(Tar.symlink("x", to: "../outside") + Tar.end, "1.tar")
        try stage.write(second, "2.tar")
        #expect(try stage.run(["extract", "1.tar", "out", "--no-sync"]).status == 0)
        let command = ["extract", "2.tar", "out", "--no-sync", "--overwrite", policy] + options
        let result = try stage.run(command)
        let tree = try #require(try stage.tree())
        if policy == "replace" {
          #expect(tree == replaced)
        } else {
          #expect(
            tree.contains("x -> ../outside") && tree.allSatisfy { $0 == "f=1" || $0.hasPrefix("x ->") }, "\(tree)")
        }
        #expect(result.status < 2 || options.isEmpty, "\(command): \(result.errorText)")
        let outside = try Starc.script(
          "ls -A outside; cat outside/keep; stat -c '%a %Y' outside", directory: stage.path)
        #expect(outside.outputText == "keep\ntwin\nK777 7\n")
      }
    }
  }
}
