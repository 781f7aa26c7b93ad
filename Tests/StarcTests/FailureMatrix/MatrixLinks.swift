/// Links to everything that a link can mean.
extension FailureMatrix {
  static let links: [FailureMode] = [
    accepted("a symlink to itself", ["l -> l"], Tar.symlink("l", to: "l")),
    accepted("two symlinks in a circle", ["a -> b", "b -> a"], Tar.symlink("a", to: "b"), Tar.symlink("b", to: "a")),
    accepted("a symlink to nowhere", ["l -> no/where"], Tar.symlink("l", to: "no/where")),
    accepted("a symlink that climbs", ["l -> ../../../x"], Tar.symlink("l", to: "../../../x")),
    refused("a hard link to itself", says: "which is not a file", [], Tar.hardLink("h", to: "h")),
    refused("a hard link to itself by another spelling", says: "which is not a file", [], Tar.hardLink("h", to: "./h")),
    refused(
      "two hard links in a circle", says: "which is not a file", [], Tar.hardLink("g", to: "h"),
      Tar.hardLink("h", to: "g")),
    refused(
      "hard links to one in a circle", says: "which is not a file", [], Tar.hardLink("g", to: "h"),
      Tar.hardLink("h", to: "g"), Tar.hardLink("i", to: "g")),
    refused("a hard link to nothing", says: "which is not a file", [], Tar.hardLink("h", to: "nothing")),
    refused(
      "a hard link to a directory", says: "which is not a file", ["d/"], Tar.directory("d/"), Tar.hardLink("h", to: "d")
    ),
    refused(
      "a hard link to the directory that it is in", says: "which is not a file", ["d/"], Tar.hardLink("d/h", to: "d")),
    refused("a hard link to a system file", says: "which is not a file", [], Tar.hardLink("h", to: "/etc/passwd")),
    .accepted("a hard link to a later member", makes: ["after=z 2", "h=z 2"]) { _ in
      [Tar.hardLink("h", to: "after"), after]
    },
    .accepted("a hard link by an absolute path", makes: ["f=1 2", "h=1 2"]) { _ in
      [Tar.entry("f", "1"), Tar.hardLink("h", to: "/f")]
    },
    .accepted("a hard link to a name with a slash", makes: ["f=1 2", "h=1 2"]) { _ in
      [Tar.entry("f", "1"), Tar.hardLink("h", to: "f/")]
    },
    .accepted("a chain of hard links", makes: ["a=1 3", "b=1 3", "c=1 3"]) { _ in
      [Tar.entry("a", "1"), Tar.hardLink("b", to: "a"), Tar.hardLink("c", to: "b")]
    },
    .accepted("a hard link whose target is replaced", makes: ["f=2", "h=1"]) { _ in
      [Tar.entry("f", "1"), Tar.hardLink("h", to: "f"), Tar.entry("f", "2")]
    },
    .accepted("a name as ./name and once more", makes: ["f=2"]) { _ in [Tar.entry("f", "1"), Tar.entry("./f", "2")] },
    .accepted("a file, a directory of its name, a child", makes: ["f/", "f/c=2"]) { _ in
      [Tar.entry("f", "1"), Tar.directory("f/"), Tar.entry("f/c", "2")]
    },
    .refused("a file, and one below it", says: "not a directory", leaves: ["f=1"]) { _ in
      [Tar.entry("f", "1"), Tar.entry("f/c", "2")]
    },
    .refused("a fifo, and a file below it", says: "not a directory", leaves: ["p|"]) { _ in
      [Tar.entry("p", type: "6"), Tar.entry("p/c", "2")]
    },
    .refused("a symlink to the destination itself, and through it", says: "l/x", leaves: ["l -> ."]) { _ in
      [Tar.symlink("l", to: "."), Tar.entry("l/x", "1")]
    },
    .refused("a chain of symlinks, and through it", says: "b/keep", leaves: ["a -> OUTSIDE", "b -> a"]) { outside in
      [Tar.symlink("a", to: Bytes(outside)), Tar.symlink("b", to: "a"), Tar.entry("b/keep", "1")]
    },
    .refused("a directory through a symlink", says: "l/d", leaves: ["l -> OUTSIDE"]) { outside in
      [Tar.symlink("l", to: Bytes(outside)), Tar.directory("l/d", mode: 0o777)]
    },
    .refused("a hard link through a symlink", says: "l/keep", leaves: ["l -> OUTSIDE"]) { outside in
      [Tar.symlink("l", to: Bytes(outside)), Tar.hardLink("h", to: "l/keep")]
    },
    .refused("a link in place of the directory that a later name needs", says: "d/x", leaves: ["d -> OUTSIDE"]) {
      outside in
      [Tar.directory("d/"), Tar.symlink("d", to: Bytes(outside)), Tar.entry("d/x", "1"), Tar.directory("d/y")]
    },
    .accepted("a link in place of a file whose mode was odd", makes: ["s -> ../outside/keep"]) { _ in
      [Tar.entry("s", "1") { $0.mode = 0o4777 }, Tar.symlink("s", to: "../outside/keep")]
    },
    .accepted("one name as everything in turn", makes: ["n=last"]) { _ in
      [
        Tar.entry("n", "1"), Tar.symlink("n", to: "../outside/keep"), Tar.entry("n", type: "6"), Tar.directory("n/"),
        Tar.entry("n", "last"),
      ]
    },
  ]
}
