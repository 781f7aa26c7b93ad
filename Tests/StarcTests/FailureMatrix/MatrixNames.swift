/// Names: `..` in every place, none at all, bytes of every kind, and lengths at the limits.
extension FailureMatrix {
  private static let climbing = [
    "..", "../", "./..", "a/..", "a/../b", "a/b/../../../c", "/..", "/../..", "a/./../b", "..//x",
  ]
  private static let dataOfNobody = ["", ".", "./", "/", "//", "///", "./.", ".//"]
  private static let plain: [(Bytes, [String])] = [
    (".../x", [".../", ".../x=x"]), ("..x", ["..x=x"]), ("a..", ["a..=x"]), ("a/...", ["a/", "a/...=x"]),
    ("..\\x", ["..\\x=x"]), ("a\\..\\b", ["a\\..\\b=x"]), ("C:\\x", ["C:\\x=x"]), ("~/x", ["~/", "~/x=x"]),
    ("a//b", ["a/", "a/b=x"]), ("./a", ["a=x"]), ("/./a", ["a=x"]), ("a/.", ["a=x"]), ("a/./b", ["a/", "a/b=x"]),
    (" ", [" =x"]), ("-rf", ["-rf=x"]), ("a\nb", ["a\nb=x"]), ("a\u{1}", ["a\u{1}=x"]),
    ("\u{1B}[31m", ["\u{1B}[31m=x"]),
    ("*?[x]", ["*?[x]=x"]), ("$(x)`x`", ["$(x)`x`=x"]), ("\u{e9}", ["\u{e9}=x"]), ("e\u{301}", ["e\u{301}=x"]),
    ("con", ["con=x"]), ("x ", ["x =x"]), ("x.", ["x.=x"]), ("\u{202E}x", ["\u{202E}x=x"]),
  ]

  /// Names that look alike, or not at all, are told apart.
  private static func escaped(_ name: Bytes) -> String {
    String(decoding: name.bytes, as: UTF8.self).unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
  }

  static let oddNames: [FailureMode] = {
    var cases: [FailureMode] = []
    cases += climbing.map { name in
      refused("a file \(name.debugDescription)", says: "..", [], Tar.entry(Bytes(name), "x"))
    }
    cases += climbing.prefix(6).map { name in
      refused("pax path \(name.debugDescription)", says: "..", [], Tar.pax(("path", Bytes(name))), Tar.entry("n", "x"))
    }
    cases += dataOfNobody.map { name in
      refused("a file named \(name.debugDescription)", says: "", [], Tar.entry(Bytes(name), "x"))
    }
    cases += plain.map { name, tree in
      accepted(
        "odd name \(escaped(name))", tree, Tar.entry(name, "x"))
    }
    cases += ["..", "a/..", "/", "//"].map { name in
      refused("a directory \(name.debugDescription)", says: "name", [], Tar.directory(Bytes(name)))
    }
    cases += [".", "./", "/./", ".//."].map { name in
      accepted("the root as \(name.debugDescription)", [], Tar.directory(Bytes(name)))
    }
    cases += ["d", "d//", "d/.", "./d/"].map { name in
      accepted("a directory as \(name.debugDescription)", ["d/"], Tar.directory(Bytes(name)))
    }
    cases += (["1", "2", "3", "4", "6"] as [Character]).map { type -> FailureMode in
      // A slash does not make another thing of what is no file.
      let tree: [Character: [String]] = ["1": ["s=b 2"], "2": ["s -> before"], "6": ["s|"]]
      let made = tree[type] ?? []
      let base = type == "1" ? ["after=z", "before=b 2"] : ["after=z", "before=b"]
      return .accepted(
        "a slash behind the name of type \(type)", status: made.isEmpty ? 1 : 0, makes: (base + made).sorted()
      ) { _ in [before, Tar.entry("s/", type: type, link: "before"), after] }
    }
    cases += [
      refused("data of a directory of old tars", says: "ends in", [], Tar.entry("s/", "data", type: "0")),
      refused("data of a contiguous directory", says: "ends in", [], Tar.entry("s/", "data", type: "7")),
      refused("a pax path that is empty", says: "path", [], Tar.pax(("path", "")), Tar.entry("n", "x")),
      refused(
        "a pax linkpath that is empty", says: "linkpath", [], Tar.pax(("linkpath", "")), Tar.symlink("n", to: "x")),
      refused("a NUL in a pax linkpath", says: "NUL", [], Tar.pax(("linkpath", "a\u{0}b")), Tar.symlink("n", to: "x")),
      refused("a long name that begins with a NUL", says: "empty", [], Tar.long("\u{0}abc"), Tar.entry("n", "x")),
      refused("a long name of no bytes", says: "empty", [], Tar.long("", endsWithNUL: false), Tar.entry("n", "x")),
      refused("a symlink to nothing at all", says: "target", [], Tar.symlink("n", to: "")),
      refused("an empty hard link target", says: "target", [], Tar.hardLink("n", to: "")),
      refused("a hard link target ..", says: "..", [], Tar.hardLink("n", to: "..")),
      refused("a hard link to the root", says: "root", [], Tar.hardLink("n", to: "./")),
    ]
    return cases
  }()
  static let longNames: [FailureMode] = {
    var cases: [FailureMode] = []
    cases += [99, 100, 101, 155, 156, 254, 255].flatMap { count -> [FailureMode] in
      let name = Bytes(repeating: "n", count: count)
      let tree = [String(repeating: "n", count: count) + "=x"]
      return [
        accepted("a GNU long name of \(count) bytes", tree, Tar.long(name), Tar.entry("x", "x")),
        accepted("a pax path of \(count) bytes", tree, Tar.pax(("path", name)), Tar.entry("x", "x")),
      ]
    }
    cases += [256, 511, 512, 513].flatMap { count -> [FailureMode] in
      // No file system of Linux takes such a component: the member is refused, as one that cannot be made.
      let name = Bytes(repeating: "n", count: count)
      return [
        refused("a component of \(count) bytes, GNU", says: "too long", [], Tar.long(name), Tar.entry("x", "x")),
        refused(
          "a component of \(count) bytes, pax", says: "too long", [], Tar.pax(("path", name)), Tar.entry("x", "x")),
      ]
    }
    let first = "d/" + String(repeating: "n", count: 200)
    let second = first + "/" + String(repeating: "m", count: 255)
    // 512 bytes in all.
    let whole = second + "/" + String(repeating: "o", count: 512 - second.utf8.count - 1)
    cases += [
      refused(
        "a directory with a component of 256 bytes, and a file in it", says: "name", [],
        Tar.pax(("path", Bytes(String(repeating: "n", count: 256) + "/"))), Tar.directory("x"),
        Tar.pax(("path", Bytes(String(repeating: "n", count: 256) + "/x"))), Tar.entry("x", "1")),
      refused(
        "a hard link with a component of 256 bytes", says: "too long", [],
        Tar.long(Bytes(repeating: "n", count: 256)), Tar.hardLink("x", to: "before")),
      refused(
        "a symlink target of 5000 bytes", says: "too long", [], Tar.long(Bytes(repeating: "t", count: 5000), type: "K"),
        Tar.symlink("l", to: "t")),
      accepted(
        "a long name without NUL that fills its block", ["d/", first + "/", second + "/", whole + "=x"],
        Tar.long(Bytes(whole), endsWithNUL: false), Tar.entry("x", "x")),
    ]
    return cases
  }()
}
