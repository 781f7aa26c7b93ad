import AppMigrationHost
import ArchiveIO
import TestSupport
import Testing

@Suite struct LayoutTests {
  private func layout(_ path: String? = nil, _ environment: [String: String] = [:]) throws -> ContainerLayout {
    try ContainerLayout(
      bundleIdentifier: "org.example.a", containerPath: path.map { Array($0.utf8) },
      environment: environment.merging(["HOME": "/home/u"]) { first, _ in first })
  }
  private func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }

  @Test func placesFollowTheEnvironment() throws {
    let usual = try layout()
    #expect(text(usual.containerPath) == "/home/u/.local/share/app-containers/org.example.a")
    #expect(text(usual.statePath) == "/home/u/.local/share/app-containers/.org.example.a.migration")
    #expect(text(usual.groupPath("g.x")) == "/home/u/.local/share/app-groups/g.x")
    #expect(text(usual.documentsPath) == text(usual.containerPath) + "/Documents")
    #expect(text(usual.applicationSupportPath) == text(usual.containerPath) + "/Library/Application Support")
    #expect(text(try layout(nil, ["XDG_DATA_HOME": "/x"]).containerPath) == "/x/app-containers/org.example.a")
    #expect(text(try layout(nil, ["XDG_DATA_HOME": "x"]).containerPath) == text(usual.containerPath))
    let own = try layout(nil, ["APP_CONTAINERS_ROOT": "/y/", "APP_GROUPS_ROOT": "/z"])
    #expect(text(own.containerPath) == "/y/org.example.a" && text(own.groupPath("g")) == "/z/g")
    for (path, name) in [
      (own.lockPath, "lock"), (own.systemLockPath, "system"), (own.journalPath, "journal"), (own.statusPath, "status"),
      (own.stagingPath, "staging"), (own.previousPath, "previous"),
    ] { #expect(text(path) == "/y/.org.example.a.migration/\(name)") }
  }

  @Test func pathsAreMadeAbsoluteAndPlain() throws {
    #expect(text(try layout("//a/./b//c/").containerPath) == "/a/b/c")
    #expect(text(try layout("/c").statePath) == "/.c.migration")
    let here = try Shell.script("pwd").dropLast()
    #expect(text(try layout("d/e").containerPath) == "\(here)/d/e")
    #expect(text(try layout("/a/../b").containerPath) == "/a/../b")
    #expect(
      try ContainerLayout(bundleIdentifier: "a", containerPath: [0x2F, 0xFF], environment: ["HOME": "/"]).containerPath
        == [0x2F, 0xFF])
  }

  @Test func placesThatCannotBeContainersAreRefused() {
    for path in ["/", "//", "/a/..", "", "/a\0b", "/" + String(repeating: "n", count: 245)] {
      #expect(message(.container) { _ = try layout(path) }?.contains("code") == false, "\(path)")
    }
    #expect(message(.container) { _ = try layout("/" + String(repeating: "n", count: 244)) } == nil)
    for identifier in ["", "a/b", "..", ".a", "a b"] {
      #expect(
        message(.invalidArgument) { _ = try ContainerLayout(bundleIdentifier: identifier, environment: ["HOME": "/"]) }
          != nil)
    }
    #expect(
      message(.container) { _ = try ContainerLayout(bundleIdentifier: "a", environment: [:]) }?.contains("HOME") == true
    )
  }

  @Test func groupsNeverLeaveTheirDirectory() throws {
    let places = try layout(nil, ["APP_GROUPS_ROOT": "/z"])
    #expect(text(places.groupPath("../../etc")) == "/z/%2E%2E%2F%2E%2E%2F%65%74%63")
    #expect(text(places.groupPath("..")) == "/z/%2E%2E")
  }

  @Test func preparingMakesWhatIsMissing() throws {
    let place = try Place()
    let below = try ContainerLayout(
      bundleIdentifier: "a", containerPath: Array(place.directory.file("x/y/c").utf8),
      environment: ["APP_GROUPS_ROOT": place.directory.file("g")])
    try below.prepare(groups: ["one", "two"])
    let expected = [
      "g/", "g/one/", "g/two/", "x/", "x/y/", "x/y/c/", "x/y/c/Documents/", "x/y/c/Library/",
      "x/y/c/Library/Application Support/",
    ]
    #expect(try place.listing() == expected)
    #expect(
      try FileSystem.status(at: FileSystem.currentDirectory, below.containerPath).mode == 0o700)
    try put("1", at: place.directory.root.rawValue, "x/y/c/Documents/f")
    try below.prepare(groups: ["one"])
    #expect(try place.listing().count == expected.count + 1)
  }

  @Test func symlinksInPlaceOfDirectoriesAreRefused() throws {
    for name in ["c", "c/Documents", "c/Library", "c/Library/Application Support", "groups/g"] {
      let place = try Place()
      try place.layout.prepare(groups: ["g"])
      let root = place.directory.root.rawValue
      try RemoveTree.remove(at: root, Array(name.utf8))
      try makeDirectory(at: root, "other")
      try FileSystem.makeSymlink(to: Array(place.directory.file("other").utf8), at: root, Array(name.utf8))
      let text = message(.container) { try place.layout.prepare(groups: ["g"]) }
      #expect(text?.contains("is a symlink or no directory") == true, "\(name): \(text ?? "")")
    }
    let place = try Place()
    try put("", at: place.directory.root.rawValue, "c")
    #expect(message(.container) { try place.layout.prepare() } != nil)
  }

  @Test(
    "A container that is a mount point is refused, also when it is of the same file system",
    .enabled(if: LayoutTests.canMount, "needs root and mount namespaces"), arguments: ["-t tmpfs none", "--bind"])
  func mountPoint(_ kind: String) throws {
    let place = try Place(.disk)
    try place.layout.prepare()
    let path = place.directory.file("c")
    try Shell.script("mount \(kind == "--bind" ? "--bind '\(path)'" : kind) '\(path)'")
    let text = message(.container) { try place.layout.prepare() }
    try Shell.script("umount '\(path)'")
    #expect(text?.contains("cannot stage beside") == true)
    try place.layout.prepare()
  }

  static var canMount: Bool {
    ProcessFacts.effectiveUserID == 0
      && (try? Shell.run(["unshare", "--mount", "--propagation", "private", "true"]).status) == 0
  }
}
