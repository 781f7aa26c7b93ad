import ArchiveIO
import Glibc
import TestSupport
import Testing

@Suite(.inTemporaryDirectory())
struct DirectoryCursorTests {
  let directory: TemporaryDirectory
  let cursor: DirectoryCursor

  init() throws {
    directory = try #require(TemporaryDirectory.current)
    cursor = DirectoryCursor(root: directory.root, maximumOpenDescriptors: 2)
  }

  func inode(_ path: String) throws -> UInt64 {
    try FileSystem.status(of: cursor.descriptor(for: Array(path.utf8)[...])).inode
  }
  func trueInode(_ path: String) throws -> UInt64 {
    try FileSystem.status(at: FileSystem.currentDirectory, Array(directory.file(path).utf8)).inode
  }

  @Test("Finds what the path says, from wherever it is")
  func randomPaths() throws {
    try Shell.script(
      "for a in a ab abc; do for b in a b bc; do mkdir -p $a/$b/a/b $a/$b/c; done; done", directory: directory.path)
    let paths = try Shell.script("find . -type d", directory: directory.path).split(separator: "\n").map(String.init)
    for seed in UInt64(1)...20 {
      var random = SplitMix64(seed: seed)
      for _ in 0..<100 {
        let path = paths.randomElement(using: &random)!
        #expect(try inode(path) == trueInode(path), "seed \(seed), path \(path)")
      }
    }
  }

  @Test("Spellings of the root", arguments: ["", ".", "./", "/", ".//."])
  func root(path: String) throws {
    #expect(try inode(path) == trueInode("."))
  }

  @Test("Nothing above the root, no names with NUL", arguments: ["..", "a/..", "a/../..", "../x", "a\0b", "\0"])
  func refused(path: String) throws {
    try Shell.script("mkdir a", directory: directory.path)
    #expect(throws: SystemError.self) { try inode(path) }
    #expect(try inode("a") == trueInode("a"))
  }

  @Test("A symlink is never followed, last or in between")
  func symlinks() throws {
    try Shell.script("mkdir -p a/b; ln -s a l; ln -s ../a a/l", directory: directory.path)
    for path in ["l", "l/b", "a/l", "a/l/b"] {
      let error = #expect(throws: SystemError.self) { try inode(path) }
      #expect(error?.isNotDirectory == true, "\(path)")
    }
    let error = #expect(throws: SystemError.self) { try inode("a/none/x") }
    #expect(error?.isNotFound == true && error?.path == Array("a/none".utf8))
  }

  @Test("After a name was replaced by a symlink and made known, it is refused")
  func replaced() throws {
    try Shell.script("mkdir -p a/b/c out/c", directory: directory.path)
    #expect(try inode("a/b/c") == trueInode("a/b/c"))
    try Shell.script("mv a/b gone; ln -s ../out a/b", directory: directory.path)
    // Until it is told, the cursor stays in the directory that it holds, and never in the link's target.
    #expect(try inode("a/b/c") == trueInode("gone/c"))
    cursor.invalidate(Array("a/b".utf8)[...])
    #expect(throws: SystemError.self) { try inode("a/b/c") }
    #expect(try inode("a") == trueInode("a"))
    // Also by way of a sibling.
    try Shell.script("rm a/b; mv gone a/b", directory: directory.path)
    #expect(try inode("a/b/c") == trueInode("a/b/c"))
    cursor.invalidate(Array("a/x".utf8)[...])
    cursor.invalidate(Array("a/b/c/d".utf8)[...])
    #expect(try inode("a/b/c") == trueInode("a/b/c"))
    try Shell.script("mv a/b gone; ln -s ../out a/b", directory: directory.path)
    cursor.forget()
    #expect(throws: SystemError.self) { try inode("a/b/c") }
  }

  @Test("A directory moved while the cursor was below it is not taken for the one of that name")
  func movedAbove() throws {
    try Shell.script("mkdir -p a/b/c/d/e other", directory: directory.path)
    #expect(try inode("a/b/c/d/e") == trueInode("a/b/c/d/e"))
    // The descriptor of a/b was given up by now. Its `..` will be another directory.
    try Shell.script("mv a/b/c other/c; mkdir a/b/x", directory: directory.path)
    #expect(try inode("a/b/x") == trueInode("a/b/x"))
    // Climbing, where that takes fewer steps than beginning again: `..` of a directory that was moved is another one.
    try Shell.script("mkdir -p a/b/x/1/2/3/4/5 a/b/x/1/2/y", directory: directory.path)
    #expect(try inode("a/b/x/1/2/3/4/5") == trueInode("a/b/x/1/2/3/4/5"))
    try Shell.script("mv a/b/x/1/2/3/4 other/4", directory: directory.path)
    #expect(try inode("a/b/x/1/2/y") == trueInode("a/b/x/1/2/y"))
  }

  @Test("Missing directories are made on request")
  func create() throws {
    _ = try cursor.descriptor(for: Array("x/y/z".utf8)[...], createMissing: 0o700)
    #expect(try FileSystem.status(at: directory.root.rawValue, Array("x/y/z".utf8)).mode == 0o700)
    #expect(try inode("x/y/z") == trueInode("x/y/z"))
    try Shell.script("ln -s /tmp x/l; ln -s none x/dangling", directory: directory.path)
    for path in ["x/l/z", "x/dangling/z"] {
      #expect(throws: SystemError.self) { try cursor.descriptor(for: Array(path.utf8)[...], createMissing: 0o700) }
    }
    #expect(throws: SystemError.self) { try FileSystem.status(at: directory.root.rawValue, Array("x/none".utf8)) }
  }

  @Test("Ten thousand levels with 16 descriptors: down, up by steps, and removal", .timeLimit(.minutes(10)))
  func deep() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      Limits.leaveDescriptors(16)
      let levels = 10000
      try FileTree.makeDeep(in: directory.root, levels: levels)
      let cursor = DirectoryCursor(root: directory.root)
      var path = Array(repeating: [0x64, 0x2F] as [UInt8], count: levels).joined().dropLast().map { $0 }
      let leaf = try FileSystem.status(at: cursor.descriptor(for: path[...]), Array("leaf".utf8))
      #expect(leaf.byteCount == 1)
      for _ in 0..<9990 {
        path.removeLast(2)
        let status = try FileSystem.status(at: cursor.descriptor(for: path[...]), [0x64])
        #expect(status.kind == .directory)
      }
      try RemoveTree.remove(at: directory.root.rawValue, [0x64])
      #expect(throws: SystemError.self) { try FileSystem.status(at: directory.root.rawValue, [0x64]) }
    }
  }
}
