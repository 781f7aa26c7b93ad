internal import TestSupport
internal import Testing

/// Headers that are damaged, or that programs read differently.
@Suite struct FailureModesHeaderTests {
  /// The pax size counts, for the data and for the way to the next header.
  static let sizes: [FailureMode] = [
    .accepted("pax size above that of the header", makes: ["after=z", "outer=<1024>"], names: ["outer", "after"]) { _ in
      let inner = Tar.entry("inner")
      return [
        Tar.pax(("size", "1024")), Tar.Header(name: "outer").block, inner,
        [UInt8](repeating: 0, count: 1024 - inner.count),
        Tar.entry("after", "z"),
      ]
    },
    .accepted("pax size below that of the header", makes: ["after=z", "outer=abc"], names: ["outer", "after"]) { _ in
      [Tar.pax(("size", "3")), Tar.entry("outer", "abc") { $0.size = 1024 }, Tar.entry("after", "z")]
    },
    .refused(
      "pax size before a GNU long name", says: "in front of a GNU long name",
      // The lenient reader does as GNU tar: the size is that of the file, which hence holds the next header.
      leaves: ["after=z", "long=<2048>"], names: ["long", "after"]
    ) { _ in
      let inner = Tar.entry("inner")
      return [
        Tar.pax(("size", "2048")), Tar.long("long"), Tar.Header(name: "x").block, inner,
        [UInt8](repeating: 0, count: 2048 - inner.count), Tar.entry("after", "z"),
      ]
    },
    .accepted("a symlink that states a size", status: 1, says: "size of 5", makes: ["after=1", "s -> x"]) { _ in
      [Tar.entry("s", type: "2", link: "x") { $0.size = 5 }, Tar.entry("after", "1")]
    },
    .accepted("a directory that states a size", status: 1, says: "size of 512", makes: ["after=1", "d/"]) { _ in
      [Tar.entry("d/", type: "5") { $0.size = 512 }, Tar.entry("after", "1")]
    },
    .refused("a hard link with data by its pax size", says: "pax size of 3", leaves: ["after=1", "f=1 2", "h=1 2"]) {
      _ in
      [
        Tar.entry("f", "1"), Tar.pax(("size", "3")), Tar.entry("h", "xyz", type: "1", link: "f"),
        Tar.entry("after", "1"),
      ]
    },
    .accepted(
      "unknown types with data are files", status: 1, says: "unknown type", makes: ["after=1", "cont=7", "unk=u"]
    ) { _ in [Tar.entry("cont", "7", type: "7"), Tar.entry("unk", "u", type: "Z"), Tar.entry("after", "1")] },
  ]

  static let statedTwice: [FailureMode] = [
    .refused("two pax headers", says: "two pax headers", leaves: ["second=1", "y=2"], names: ["second", "y"]) { _ in
      [Tar.pax(("path", "first")), Tar.pax(("path", "second")), Tar.entry("x", "1"), Tar.entry("y", "2")]
    },
    .refused("two GNU long names", says: "two GNU long names", leaves: ["two=1"], names: ["two"]) { _ in
      [Tar.long("one"), Tar.long("two"), Tar.entry("x", "1")]
    },
    .refused("pax path before a GNU long name", says: "GNU long name", leaves: ["p=1"], names: ["p"]) { _ in
      [Tar.pax(("path", "p")), Tar.long("long"), Tar.entry("x", "1")]
    },
    .refused("pax path behind a GNU long name", says: "GNU long name", leaves: ["p=1"], names: ["p"]) { _ in
      [Tar.long("long"), Tar.pax(("path", "p")), Tar.entry("x", "1")]
    },
    .refused("two targets of a link", says: "GNU long link", leaves: ["s -> p"]) { _ in
      [Tar.long("long", type: "K"), Tar.pax(("linkpath", "p")), Tar.symlink("s", to: "x")]
    },
    .accepted("other records beside a GNU long name", makes: ["long=1"], names: ["long"]) { _ in
      [Tar.pax(("mtime", "5")), Tar.long("long"), Tar.entry("x", "1")]
    },
    .accepted("a key twice in one header: the last counts", makes: ["second=1"]) { _ in
      [Tar.pax(("path", "first"), ("path", "second")), Tar.entry("x", "1")]
    },
    .refused("a path for all members", says: "global", leaves: ["a=1", "b=2"]) { _ in
      [Tar.pax(("path", "g"), type: "g"), Tar.entry("a", "1"), Tar.entry("b", "2")]
    },
  ]

  /// A wrong record refuses its member, and the next one is found all the same.
  static let records: [FailureMode] =
    [
      "0 path=a\n", "99 path=a\n", "8 path=", "-5 path=a\n", "11 path=abX", "x", "9 pathxa\n", "7 path\n", "5 =a\n",
      "99999999999999999999999 path=a\n", "10 path=a\n\n", "\n", " 9 path=a\n", "+9 path=a\n", "0x9 path=a\n",
    ].map { body in
      .refused("pax record \(body.debugDescription)", says: "pax record", leaves: ["y=2"], names: ["y"]) { _ in
        [Tar.rawPax(Bytes(body)), Tar.entry("x", "1"), Tar.entry("y", "2")]
      }
    } + [
      .accepted("a pax header without records", makes: ["x=1"]) { _ in [Tar.rawPax(""), Tar.entry("x", "1")] },
      .refused("a time that is none", says: "mtime", leaves: ["y=2"]) { _ in
        [Tar.pax(("mtime", "1e9")), Tar.entry("x", "1"), Tar.entry("y", "2")]
      },
    ]

  /// Without a size nobody knows where the next header begins: an error at once, never a loop.
  static let numbers: [FailureMode] =
    ([
      ("size -512", [UInt8](repeating: 0xFF, count: 10) + [0xFE, 0x00]),
      ("size 2^63 - 1", [0x80, 0, 0, 0, 0x7F] + [UInt8](repeating: 0xFF, count: 7)),
      ("size 2^95 - 1", [UInt8](repeating: 0xFF, count: 12)),
      ("size 2^88 - 1", [0x80] + [UInt8](repeating: 0xFF, count: 11)),
      ("size with a digit 9", Array("0000000019 ".utf8)), ("size of letters", Array("size".utf8)),
    ] as [(String, [UInt8])]).map { name, field in
      .damaged(name, says: "the size") { _ in
        [Tar.entry("a", "1"), Tar.entry("n") { $0.patches = [(124, Bytes(field))] }, Tar.entry("b", "2")]
      }
    }
    + ["-1", "9223372036854775807", "1152921504606846977", "1e3", "", "99999999999999999999999"].map { value in
      .damaged("pax size \(value)", says: "size") { _ in
        [Tar.entry("a", "1"), Tar.pax(("size", Bytes(value))), Tar.entry("n", "1"), Tar.entry("b", "2")]
      }
    } + [
      .accepted("octal with spaces and NULs", makes: ["a=1", "e=", "n=x"]) { _ in
        [
          Tar.entry("a", "1"), Tar.entry("n", "x") { $0.patches = [(124, "   1 \u{0}      ")] },
          Tar.entry("e") { $0.patches = [(124, Bytes([UInt8](repeating: 0, count: 12)))] },
        ]
      },
      .damaged("a wrong checksum", says: "checksum") { _ in
        var block = Tar.entry("b", "2")
        block[0] ^= 1
        return [Tar.entry("a", "1"), block]
      },
      .damaged("a pax header of 8 GiB", says: "limit") { _ in [Tar.Header(name: "p", size: 8 << 30, type: "x").block] },
      .damaged("a long name of 8 GiB", says: "limit") { _ in [Tar.Header(name: "p", size: 8 << 30, type: "L").block] },
    ]

  static let names: [FailureMode] = [
    .accepted("directories of old tars: files with a slash", makes: ["o1/", "o1/f=1", "o2/", "o2/f=2", "o3/"]) { _ in
      [
        Tar.entry("o1/") { $0.mode = 0o755 }, Tar.entry("o1/f", "1"),
        Tar.entry("o2/", type: "\u{0}") {
          $0.magic = ""
          $0.mode = 0o755
        }, Tar.entry("o2/f", "2"),
        Tar.pax(("path", "o3/")), Tar.entry("x") { $0.mode = 0o755 },
      ]
    },
    .refused("a directory with data", says: "ends in \"/\"", leaves: ["after=1"]) { _ in
      [Tar.entry("d/", "xx"), Tar.entry("after", "1")]
    },
    .refused("an empty name", says: "the name is empty", leaves: ["after=1"]) { _ in
      [Tar.entry("", "1"), Tar.entry("after", "1")]
    },
    .refused("an empty long name", says: "the name is empty", leaves: ["after=1"]) { _ in
      [Tar.long(""), Tar.entry("x", "1"), Tar.entry("after", "1")]
    },
    .refused("a name of slashes", says: "only slashes", leaves: ["after=1"]) { _ in
      [Tar.pax(("path", "////")), Tar.entry("x", "1"), Tar.directory("/"), Tar.entry("after", "1")]
    },
    .refused("a root that is a file", says: "root", leaves: ["after=1"]) { _ in
      [Tar.entry(".", "1"), Tar.entry("after", "1")]
    },
    .accepted("the root, and needless components", makes: ["a/", "a/b/", "a/b/c=1"]) { _ in
      [Tar.directory("./"), Tar.directory("."), Tar.entry("./a/./b//c", "1")]
    },
    .refused("a link without a target", says: "target", leaves: ["after=1"]) { _ in
      [Tar.symlink("s", to: ""), Tar.entry("after", "1")]
    },
    .accepted("a long target without a long name", makes: ["s -> " + String(repeating: "t", count: 120)]) { _ in
      [Tar.long(Bytes(repeating: "t", count: 120), type: "K"), Tar.symlink("s", to: "ttt")]
    },
  ]

  static let owners: [FailureMode] = [
    .accepted("user -1, which means \"leave it\" to chown", status: 1, says: "user ID 4294967295", makes: ["b=2"]) {
      _ in
      [Tar.pax(("uid", "4294967295")), Tar.entry("b", "2")]
    },
    .accepted("a user beyond 32 bits", status: 1, says: "user ID 1099511627776", makes: ["b=2"]) { _ in
      [Tar.entry("b", "2") { $0.userID = 1 << 40 }]
    },
  ]

  /// Names of every length that has ever been one too long, in each way to state them.
  @Test(arguments: [99, 100, 101, 155, 156, 255, 256, 511, 512, 513, 4095, 4096, 65536])
  func longNames(_ count: Int) throws {
    let stage = try FailureModeStage()
    var name = [UInt8]()
    while name.count < count { name += Array("abcdefghi/".utf8) }
    name = Array(name.prefix(count - 1)) + [0x7A]
    let short = Bytes(Array(name.prefix(100)))
    var forms = [
      Tar.long(Bytes(name)) + Tar.entry(short, "1"), Tar.long(Bytes(name), endsWithNUL: false) + Tar.entry(short, "1"),
      Tar.pax(("path", Bytes(name))) + Tar.entry(short, "1"),
    ]
    if count <= 255, let slash = name.prefix(156).lastIndex(of: 0x2F), count - slash - 1 <= 100 {
      let rest = Bytes(Array(name[(slash + 1)...]))
      forms.append(Tar.entry(rest, "1") { $0.prefix = Bytes(Array(name[..<slash])) })
    }
    for form in forms {
      try stage.write(form + Tar.end, "f.tar")
      let list = try stage.run(["list", "-0", "f.tar"])
      #expect(list.status == 0 && list.output == name + [0], "\(list.errorText)")
      let extract = try stage.run(["extract", "--no-sync", "f.tar", "out"])
      #expect(extract.status == 0, "\(extract.errorText)")
      // Our own archive of the tree states the name so that GNU tar reads it too.
      let script =
        "cd out && $S create -q --no-sync ../a.tar.zst * && cd .. && zstd -dcq a.tar.zst | tar -tf - | tail -n 1"
      let text = try Starc.script(script, directory: stage.path).output
      #expect(text.dropLast() == name[...])
      try Shell.script("rm -rf out a.tar.zst", directory: stage.path)
    }
  }

  /// Names are bytes: no locale changes what is listed and made.
  @Test(arguments: ["C", "C.UTF-8", "de_DE@euro"])
  func namesAreBytes(_ locale: String) throws {
    let stage = try FailureModeStage()
    let names: [[UInt8]] = [
      [0xFF, 0xFE], Array("a\nb".utf8), Array("a\tb\u{1}".utf8), [0x20], Array("-rf".utf8), Array("é".utf8),
      Array("e\u{301}".utf8), Array("back\\slash".utf8),
    ]
    try stage.write(names.flatMap { Tar.entry(Bytes($0), "1") } + Tar.end, "f.tar")
    let script = """
      export LC_ALL=\(locale); $S extract -q --no-sync f.tar out && $S list -0 f.tar
      """
    let result = try Starc.script(script, directory: stage.path)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.output == names.flatMap { $0 + [0] })
    let found = try Starc.script("cd out; find . -type f -print0", directory: stage.path).output
    #expect(Set(found.split(separator: 0).map { Array($0.dropFirst(2)) }) == Set(names))
  }

  /// Times before 1970, with fractions, and beyond what any file system holds.
  @Test(arguments: [
    ("-0.5", 0, -1, 500_000_000), ("-1", 0, -1, 0), ("-1.000000001", 0, -2, 999_999_999),
    ("1.9999999999", 0, 1, 999_999_999), ("2147483648", 0, 2_147_483_648, 0),
    ("4500000000.5", 0, 4_500_000_000, 500_000_000),
    ("99999999999", 1, 99_999_999_999, 0), ("-99999999999", 1, -99_999_999_999, 0),
    ("9223372036854775807", 1, Int.max, 0), ("-9223372036854775808", 1, Int.min, 0),
  ])
  func times(_ text: String, _ status: Int32, _ seconds: Int, _ nanoseconds: Int) throws {
    let stage = try FailureModeStage()
    try stage.write(Tar.pax(("mtime", Bytes(text))) + Tar.entry("f", "1") + Tar.end, "f.tar")
    let listed = try #require(try Starc.objects(try stage.run(["list", "--json", "f.tar"]).output).first)
    #expect(listed["mtime"] as? Int == seconds && listed["mtimeNanoseconds"] as? Int == nanoseconds)
    // The system's limits differ from one file system to the next; what is not restored is said.
    let disk = try TemporaryDirectory(.disk)
    let extract = try stage.run(["extract", "--no-sync", "f.tar", disk.file("out")])
    let made = try Starc.script("TZ=UTC stat -c '%.9Y' out/f", directory: disk.path).outputText
    let wanted = nanoseconds == 0 ? "\(seconds).000000000\n" : nil
    if let wanted { #expect((made == wanted) == (extract.status == 0), "\(made) \(extract.errorText)") }
    if status == 0 { #expect(extract.status == 0, "\(extract.errorText)") }
    if extract.status == 1 { #expect(extract.errorText.contains("modification time not restored")) }
  }

  /// Set-id bits come with the owner or when asked for; unknown mode bits never.
  @Test func modes() throws {
    let stage = try FailureModeStage()
    let archive =
      Tar.entry("su", "#!") { $0.mode = 0o6755 } + Tar.directory("sd/", mode: 0o7777)
      + Tar.entry("odd", "1") { $0.mode = 0o170644 }
    try stage.write(archive + Tar.end, "f.tar")
    for (options, wanted) in [
      (["--no-same-owner"], "644 1777 755"), (["--no-same-owner", "--same-permissions"], "644 7777 6755"),
      (["--no-same-permissions"], "644 755 755"),
    ] {
      let extract = try stage.run(["extract", "-q", "--no-sync", "f.tar", "out", "--no-same-owner"] + options)
      #expect(extract.status == 0, "\(extract.errorText)")
      let modes = try Starc.script("stat -c %a out/odd out/sd out/su | tr '\\n' ' '; rm -r out", directory: stage.path)
      #expect(modes.outputText == wanted + " ", "\(options)")
    }
  }

  /// What a header announces takes no memory.
  @Test(.disabled(if: Sanitizer.isOn, "judges memory")) func announcedSizesTakeNoMemory() throws {
    let stage = try FailureModeStage()
    let map = String(repeating: "0\n0\n", count: 1000)
    try stage.write(Tar.Header(name: "p", size: 8 << 30, type: "x").block, "1.tar")
    try stage.write(Tar.Header(name: "p", size: (1 << 60) - 512, type: "0").block, "2.tar")
    try stage.write(Tar.sparse(Bytes("99999999999\n" + map), "", size: "1099511627776") + Tar.end, "3.tar")
    let script = """
      ulimit -v 700000
      for f in 1 2 3; do for command in "list $f.tar" "extract $f.tar out" "verify $f.tar"; do
        timeout 10 $S $command > /dev/null 2> errors; got=$?
        [ $got = 2 ] || { [ $got = 1 ] && [ $f = 3 ] && [ "$command" = "list 3.tar" ]; } || echo "$got: $command"
        if grep -iq 'memory' errors; then cat errors; fi
      done; done
      """
    #expect(try Starc.script(script, directory: stage.path).outputText == "")
  }
}
