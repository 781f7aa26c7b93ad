import AppMigrationHost
import ArchiveIO
import TestSupport
import Testing

@Suite(.inTemporaryDirectory(.disk))
struct StagedTreeTests {
  private var directory: TemporaryDirectory { get throws { try #require(TemporaryDirectory.current) } }

  /// Makes a tree by a script and admits it.
  private func admit(
    _ script: String, owner: (UInt32, UInt32)? = nil, withdrawn: WithdrawnItems = WithdrawnItems(),
    token: CancellationToken? = nil
  ) throws -> StagedTree.Summary {
    let directory = try directory
    try Shell.script("rm -rf t; mkdir t; cd t; \(script)", directory: directory.path)
    let root = SharedDescriptor(
      try FileSystem.open(at: directory.root.rawValue, Array("t".utf8), [.readOnly, .directory]))
    return try StagedTree.admit(root: root, owner: owner, withdrawn: withdrawn, token: token)
  }
  private func status(_ name: String) throws -> FileStatus {
    try FileSystem.status(at: try directory.root.rawValue, Array("t/\(name)".utf8))
  }

  @Test func whatMayArriveIsCounted() throws {
    let summary = try admit(
      "mkdir -p a/b; printf 12345 > a/f; ln a/f a/b/g; ln -s ../f a/b/l; printf 1 > 'new\nline'; ln -s nowhere x")
    #expect(summary == .init(items: 7, bytes: 6))
    #expect(try admit(":") == .init(items: 0, bytes: 0))
  }

  @Test(
    "Links that stay below the root",
    arguments: [
      "ln -s x l", "ln -s . l", "ln -s ./a//b/./ l", "mkdir -p a/b; ln -s ../../x a/b/l", "mkdir a; ln -s .. a/l",
      "mkdir a; ln -s ./.././x a/l", "mkdir -p a/b; ln -s a/b/.. l", "mkdir -p a/b; ln -s a/b s; ln -s s/../b l",
      "mkdir -p a/b; ln -s b/../../a a/l", "ln -s ... l", "ln -s ..x l", "ln -s l l",
    ])
  func goodLinks(_ script: String) throws {
    _ = try admit(script)
  }

  @Test(
    "Links that leave the root are refused by name",
    arguments: [
      "ln -s / l", "ln -s /etc/passwd l", "ln -s .. l", "ln -s ../x l", "ln -s ./../x l", "ln -s .//.. l",
      "mkdir a; ln -s ../../x a/l", "mkdir -p a/b; ln -s a/../.. l", "mkdir -p a/b; ln -s a/b/../../../x l",
      // A name before the dots hides where they start: here at the link's target, one level higher than it seems.
      "mkdir -p a/b; ln -s .. a/b/up; ln -s up/../../x a/b/l", "ln -s missing/../x l", "ln -s l/.. l",
      "mkdir -p d/e; ln -s d/e s; ln -s s/../../../t l",
    ])
  func badLinks(_ script: String) throws {
    let text = message(.archive) { _ = try admit(script) }
    #expect(text?.contains("l\"") == true && text?.contains("symlink") == true, "\(text ?? "admitted")")
  }

  @Test func otherKindsAreRefusedByName() throws {
    #expect(message(.archive) { _ = try admit("mkdir a; mkfifo a/p") }?.contains("a FIFO, \"a/p\"") == true)
    let script = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'"
    #expect(message(.archive) { _ = try admit(script) }?.contains("a socket, \"s\"") == true)
    if ProcessFacts.effectiveUserID == 0 {
      #expect(message(.archive) { _ = try admit("mknod n c 1 3") }?.contains("a device, \"n\"") == true)
    }
  }

  @Test func setIDBitsGoAndTheOwnerMayReadAndWrite() throws {
    _ = try admit(
      "mkdir d c; printf 1 > d/f; printf 1 > g; chmod 6755 d/f; chmod 1777 g; chmod 3500 d; printf 1 > c/z; chmod 0 c/z; chmod 0 c"
    )
    #expect(try status("d/f").mode == 0o755)
    #expect(try status("g").mode == 0o777)
    #expect(try status("d").mode == 0o700)
    #expect(try status("c").mode == 0o700)
    #expect(try status("c/z").mode == 0o600)
    #expect(try status(".").mode == 0o700)
  }

  @Test(
    "Closed directories are opened for a plain user too", .enabled(if: ProcessFacts.effectiveUserID == 0, "needs root"))
  func plainUser() async {
    await #expect(processExitsWith: .success) {
      guard Limits.becomePlainUser() else { throw MigrationError(.system, "still root") }
      let directory = try TemporaryDirectory(.memory)
      try Shell.script(
        "mkdir -p t/a/b t/w/v; printf 123 > t/a/b/f; printf 1 > t/w/v/f; chmod 0 t/a/b/f t/a/b t/a t/w/v t/w; chmod 500 t",
        directory: directory.path)
      let root = SharedDescriptor(
        try FileSystem.open(at: directory.root.rawValue, Array("t".utf8), [.readOnly, .directory]))
      let withdrawn = WithdrawnItems(prefixes: [Array("w".utf8)])
      let summary = try StagedTree.admit(root: root, owner: (0, 0), withdrawn: withdrawn, token: nil)
      #expect(summary == .init(items: 3, bytes: 3))
    }
  }

  @Test("The owner is the container's", .enabled(if: ProcessFacts.effectiveUserID == 0, "needs root"))
  func owner() throws {
    _ = try admit("mkdir d; printf 1 > d/f; chmod 4755 d/f; ln -s d l; chown -R 5:6 d", owner: (65534, 77))
    for name in ["d", "d/f", "l"] {
      #expect(try status(name).userID == 65534 && status(name).groupID == 77, "\(name)")
    }
    #expect(try status("d/f").mode == 0o755)
  }

  @Test(
    "Capabilities and other attributes that give rights go",
    .enabled(if: ProcessFacts.effectiveUserID == 0, "needs root"))
  func attributes() throws {
    _ = try admit(
      """
      mkdir d; printf 1 > d/f; ln -s f d/l; python3 -c '
      import os
      capability = bytes.fromhex("0100000200200000000000000000000000000000")
      os.setxattr("d/f", "security.capability", capability)
      os.setxattr("d/f", "user.kept", b"1")
      for name in "d", "d/f", "d/l": os.setxattr(name, "trusted.x", b"1", follow_symlinks=False)'
      """)
    let root = try directory.root.rawValue
    for (name, kept) in [("t/d", []), ("t/d/f", ["user.kept"]), ("t/d/l", [])] as [(String, [String])] {
      let names = try FileSystem.attributeNames(at: root, Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
      #expect(names.filter { !$0.hasPrefix("security.selinux") } == kept, "\(name)")
    }
  }

  @Test func withdrawnItemsAreRemovedFirst() throws {
    func hash(_ path: String) -> UInt64 { WithdrawnItems.hash(of: Array(path.utf8)) }
    let withdrawn = WithdrawnItems(
      prefixes: [Array("bad".utf8), Array("d/part".utf8)],
      hashes: [hash("single"), hash("dir"), hash("full"), hash("f/p")])
    // What is withdrawn is not checked either: a FIFO in it does not matter.
    let summary = try admit(
      """
      mkdir -p bad/x d/part d/partly dir/dir full f; mkfifo bad/x/p f/p; printf 1 > d/part/a; printf 22 > d/partly/a
      printf 333 > badly; printf 4444 > single; printf 55555 > full/kept; ln -s ../.. bad/l; rmdir dir/dir
      """, withdrawn: withdrawn)
    let root = SharedDescriptor(try FileSystem.open(at: try directory.root.rawValue, Array("t".utf8), .readOnly))
    #expect(
      try Place.listing(root)
        == ["badly=333", "d/", "d/partly/", "d/partly/a=22", "f/", "full/", "full/kept=55555"])
    #expect(summary == .init(items: 7, bytes: 10))
  }

  @Test func aLinkThatNeedsSomethingWithdrawnIsJudgedWithoutIt() throws {
    let script = "mkdir -p a/b; ln -s a/b/.. l"
    _ = try admit(script)
    let withdrawn = WithdrawnItems(prefixes: [Array("a/b".utf8)])
    #expect(message(.archive) { _ = try admit(script, withdrawn: withdrawn) } != nil)
  }

  @Test func deepTreesAndCancelling() throws {
    let directory = try directory
    try FileSystem.makeDirectory(at: directory.root.rawValue, [0x74], mode: 0o755)
    let root = SharedDescriptor(try FileSystem.open(at: directory.root.rawValue, [0x74], [.readOnly, .directory]))
    try FileTree.makeDeep(in: root, levels: 3000)
    let summary = try StagedTree.admit(root: root, owner: nil, withdrawn: WithdrawnItems(), token: nil)
    #expect(summary == .init(items: 3001, bytes: 1))
    let token = CancellationToken()
    token.cancel()
    #expect(
      message(.cancelled) {
        _ = try StagedTree.admit(root: root, owner: nil, withdrawn: WithdrawnItems(), token: token)
      } == "cancelled")
  }
}
