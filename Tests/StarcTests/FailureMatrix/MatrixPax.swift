/// Extended headers: every key with values of every kind, and headers where they do not belong.
extension FailureMatrix {
  private static let oddValues = ["-1", "x", "99999999999999999999999", "1.5", " 1", "+1", "0x1", "1 ", "-0.5", ".5"]

  private static func record(_ key: String, _ value: String) -> [UInt8] {
    Tar.pax((Bytes(key), Bytes(value))) + Tar.entry("n", "q")
  }

  /// Keys that mean nothing here; whatever they say is their own affair.
  private static let foreignKeys = [
    "atime", "ctime", "comment", "charset", "hdrcharset", "realtime.x", "SCHILY.ino", "SCHILY.fflags",
    "SCHILY.filetype",
    "SCHILY.devmajor", "SCHILY.devminor", "RHT.security.selinux", "MSWINDOWS.rawsd", "GNU.volume.size", "GNU.dumpdir",
    "LIBARCHIVE.creationtime", "APPLE.x", "GOLANG.pkg", "a b", "=",
  ]

  static let paxValues: [FailureMode] = {
    var cases: [FailureMode] = []
    cases += (oddValues + [""]).map { value in
      damaged("pax size \(value.debugDescription)", says: "size", record("size", value))
    }
    cases += ["uid", "gid"].flatMap { key -> [FailureMode] in
      oddValues.map { value in refused("pax \(key) \(value.debugDescription)", says: key, [], record(key, value)) }
        + [accepted("pax \(key) that is empty", ["n=q"], record(key, ""))]
    }
    cases += ["x", " 1", "+1", "0x1", "1 ", ".5", "1e9", "1,5", "--1", "nan"].map { value in
      refused("pax mtime \(value.debugDescription)", says: "mtime", [], record("mtime", value))
    }
    cases += ["", "-1", "1", "1.5", "-0.5", "1.", "1.9999999999999", "-0", "00001.1"].map { value in
      accepted("pax mtime \(value.debugDescription), a time", ["n=q"], record("mtime", value))
    }
    cases += [
      accepted("pax mtime beyond all times", status: 1, says: "clamped", ["n=q"], record("mtime", oddValues[2]))
    ]
    cases += foreignKeys.filter { $0 != "=" }.map { key in
      accepted("pax \(key)", ["n=q"], record(key, "x"), Tar.pax((Bytes(key), "")), Tar.entry("n", "q"))
    }
    cases += ["path", "size", "linkpath", "GNU.sparse.size"].map { key -> FailureMode in
      .refused("a global pax \(key)", says: "global", leaves: ["after=z", "before=b"]) { _ in
        [Tar.pax((Bytes(key), "9"), type: "g"), before, after]
      }
    }
    cases += ["mtime", "uid", "uname", "comment", "SCHILY.xattr.user.g", "SCHILY.devmajor"].map { key -> FailureMode in
      .accepted("a global pax \(key)", makes: ["after=z", "before=b"]) { _ in
        [Tar.pax((Bytes(key), "9"), type: "g"), before, after]
      }
    }
    return cases
  }()
  /// What is in here must never come out.
  private static let smuggled = Tar.entry("inner") + [UInt8](repeating: 0, count: 512)

  static let extendedHeaders: [FailureMode] = [
    refused(
      "a wrong record in front of the size", says: "uid", [], Tar.pax(("uid", "x"), ("size", "1024")),
      Tar.Header(name: "outer").block, smuggled),
    refused(
      "an unknown sparse form in front of the size", says: "Solaris", [],
      Tar.pax(("SUN.holesdata", " 0 9"), ("size", "1024")),
      Tar.Header(name: "outer").block, smuggled),
    damaged(
      "a size twice, the second one no number", says: "size", Tar.pax(("size", "1"), ("size", "x")), Tar.entry("n", "q")
    ),
    accepted("a size twice, the last counts", ["n=q"], Tar.pax(("size", "9"), ("size", "1")), Tar.entry("n", "q")),
    accepted(
      "a global header between an extended one and its member", ["p=1"], Tar.pax(("path", "p")),
      Tar.pax(("comment", "c"), type: "g"), Tar.entry("x", "1")),
    accepted(
      "an extended header of old Solaris", ["p=1"], Tar.entry("h", Bytes(Tar.record("path", "p")), type: "X"),
      Tar.entry("x", "1")),
    accepted("a long link for a file", ["x=1"], Tar.long("nothing", type: "K"), Tar.entry("x", "1")),
    accepted("long name and pax time", ["long=1"], Tar.long("long"), Tar.pax(("mtime", "5.5")), Tar.entry("x", "1")),
    accepted("a global header that is empty", [], Tar.entry("g", type: "g")),
    .accepted("only a global header", makes: []) { _ in [Tar.pax(("comment", "x"), type: "g")] },
    .accepted("a global header at the end", makes: ["before=b"]) { _ in [before, Tar.pax(("comment", "x"), type: "g")]
    },
    FailureMode(
      testDescription: "an extended header at the end", archive: { _ in before + Tar.pax(("path", "x")) + Tar.end },
      strict: .fails, lenient: .leaves(1, ["before=b"]), says: "extended header"),
    FailureMode(
      testDescription: "a long name at the end", archive: { _ in before + Tar.long("x") + Tar.end },
      strict: .fails, lenient: .leaves(1, ["before=b"]), says: "extended header"),
    .damaged("an extended header and nothing more", says: "") { _ in
      [before, Tar.Header(name: "p", size: 5000, type: "x").block]
    },
    damaged(
      "an extended header of a size below 0", says: "size",
      Tar.entry("p", type: "x") { $0.patches = [(124, Bytes([UInt8](repeating: 0xFF, count: 12)))] }),
    .refused("a part of a file from another volume", says: "volume", leaves: ["after=z"]) { _ in
      [Tar.entry("part", "xx", type: "M"), after]
    },
    .accepted("a volume label", makes: ["after=z"]) { _ in [Tar.entry("Label", type: "V"), after] },
    .accepted("a directory of a dump with its names", makes: ["after=z", "dir/"]) { _ in
      [Tar.entry("dir/", "Yfile\u{0}\u{0}", type: "D"), after]
    },
    .refused("a list of names of an old GNU tar", says: "old GNU tar", leaves: ["after=z"]) { _ in
      [Tar.entry("names", "Rename a to b\n", type: "N"), after]
    },
    .accepted("an ACL of a symlink, which cannot have one", status: 1, says: "ACL", makes: ["l -> x"]) { _ in
      [Tar.pax(("SCHILY.acl.default", "user::rwx,group::r-x,other::---")), Tar.symlink("l", to: "x")]
    },
    .accepted("an ACL of Solaris", status: 1, says: "Solaris", makes: ["after=z"]) { _ in
      [Tar.entry("acl", "1000000", type: "A"), after]
    },
  ]
}
