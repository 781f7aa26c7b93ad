/// What other programs write and both common tars read: it has to be read here too.
extension FailureMatrix {
  private static func old(
    _ name: Bytes, _ data: Bytes = "", type: Character = "\u{0}", link: Bytes = "", isDirectory: Bool = false
  ) -> [UInt8] {
    Tar.entry(name, data, type: type, link: link) { header in
      header.magic = ""
      // Unix of 1979 writes numbers with blanks before them and a blank behind.
      header.patches = [
        (100, isDirectory ? "   755 \u{0}" : "   644 \u{0}"), (108, "     0 \u{0}"), (116, "     0 \u{0}"),
      ]
    }
  }

  static let legitimate: [FailureMode] = [
    .accepted("of tar of 1979", makes: ["a=1 2", "d/", "d/x=2", "h=1 2", "l -> a"]) { _ in
      [
        old("a", "1"), old("d/", isDirectory: true), old("d/x", "2"), old("l", type: "2", link: "a"),
        old("h", type: "1", link: "a"),
      ]
    },
    .accepted("a magic that nobody knows", makes: ["a=1"]) { _ in [Tar.entry("a", "1") { $0.magic = "weirdmag" }] },
    .accepted("of star", makes: ["p/", "p/a=1"]) { _ in
      [
        Tar.entry("a", "1") { header in
          header.prefix = "p"
          header.patches = [(476, "14000000000 "), (488, "14000000000 "), (508, "tar\u{0}")]
        }
      ]
    },
    .accepted("of a container image, with whiteouts", makes: [".wh..wh..opq=", "etc/", "etc/.wh.passwd=", "etc/new=1"])
    { _ in
      [Tar.directory("etc/"), Tar.entry("etc/.wh.passwd"), Tar.entry("etc/new", "1"), Tar.entry(".wh..wh..opq")]
    },
    .accepted("of git, with a comment for all", makes: ["p/", "p/a=1"]) { _ in
      [
        Tar.pax(("comment", "0123456789012345678901234567890123456789"), type: "g"), Tar.directory("p/"),
        Tar.entry("p/a", "1"),
      ]
    },
    .accepted("of npm, with owners and times for all", makes: ["package/", "package/a=1"]) { _ in
      [Tar.pax(("mtime", "499162500"), type: "g"), Tar.entry("package/a", "1")]
    },
    .accepted("of Go, with pax for everything", makes: ["a=1"]) { _ in
      [
        Tar.pax(("atime", "1.5"), ("ctime", "1.5"), ("mtime", "1.5"), ("path", "a"), ("GOLANG.pkg", "x")),
        Tar.entry("a", "1"),
      ]
    },
    .accepted("of Python, with floats", makes: ["a=1"]) { _ in
      [Tar.pax(("mtime", "1700000000.1234567")), Tar.entry("a", "1") { $0.time = 1_700_000_000 }]
    },
    .accepted("of Windows, with security descriptors", makes: ["a=1"]) { _ in
      [
        Tar.pax(("LIBARCHIVE.creationtime", "1.5"), ("MSWINDOWS.rawsd", "AQAE"), ("MSWINDOWS.fileattr", "32")),
        Tar.entry("a", "1"),
      ]
    },
    .accepted("an owner of four thousand millions", makes: ["a=1"]) { _ in
      [Tar.entry("a", "1") { $0.userID = 4_000_000_000 }]
    },
    .accepted("the last second of the year 9999", makes: ["a="]) { _ in [Tar.entry("a") { $0.time = 2_147_483_647 }] },
    .accepted("a second before 1970", makes: ["a=1"]) { _ in
      [Tar.entry("a", "1") { $0.patches = [(136, Bytes([UInt8](repeating: 0xFF, count: 12)))] }]
    },
    .accepted("a type in the mode as well", makes: ["a=1"]) { _ in [Tar.entry("a", "1") { $0.mode = 0o100644 }] },
    .accepted("a symlink of mode 0", makes: ["l -> x"]) { _ in [Tar.entry("l", type: "2", link: "x") { $0.mode = 0 }] },
    .accepted("a link with a size, as old tars wrote it", status: 1, says: "size", makes: ["f=12345 2", "h=12345 2"]) {
      _ in
      [Tar.entry("f", "12345"), Tar.entry("h", type: "1", link: "f") { $0.size = 5 }]
    },
    .accepted("twenty blocks of padding", makes: ["a=1"], endsWith: [UInt8](repeating: 0, count: 10240 - 1024)) { _ in
      [Tar.entry("a", "1")]
    },
    .accepted("a tar whose first name looks like zstd", makes: ["(\u{b5}=1"]) { _ in [Tar.entry("(\u{b5}", "1")] },
    .accepted("a name of the prefix and a slash", makes: ["p/", "p/a/"]) { _ in
      [
        Tar.entry("a/", type: "5") { header in
          header.prefix = "p"
          header.mode = 0o755
        }
      ]
    },
  ]
}
