import ArchiveIO
import Glibc
import TestSupport
import Testing

/// All steps of a walk.
func walk(_ walker: DirectoryWalker) -> (paths: [[UInt8]], failures: [SystemError]) {
  var paths: [[UInt8]] = []
  var failures: [SystemError] = []
  while let step = walker.next() {
    switch step {
    case .entry(let entry): paths.append(entry.relativePath)
    case .failure(let error): failures.append(error)
    }
  }
  return (paths, failures)
}

@Suite(.inTemporaryDirectory())
struct DirectoryWalkerTests {
  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  func strings(_ paths: [[UInt8]]) -> [String] { paths.map { String(decoding: $0, as: UTF8.self) } }

  @Test("Sorted by bytes, directories before what lies in them")
  func order() throws {
    try Shell.script(
      "mkdir -p a/z a.b b; touch a/x a/z/1 a-c 'a b' B abcdefgh1 abcdefgh abcdefgh0 $(printf '\\377\\376') é",
      directory: directory.path)
    let (paths, failures) = walk(try DirectoryWalker(root: directory.root))
    #expect(failures == [])
    let expected =
      ["B", "a", "a/x", "a/z", "a/z/1", "a b", "a-c", "a.b", "abcdefgh", "abcdefgh0", "abcdefgh1", "b", "é"]
      .map { Array($0.utf8) } + [[0xFF, 0xFE]]
    #expect(paths == expected)
  }

  @Test("All of an awkward tree, as find sees it", arguments: [2, 8])
  func awkward(descriptors: Int) throws {
    try FileTree.makeAwkward(in: directory.root.rawValue)
    try Shell.script("mkdir -p d/e/f/g/h d/e/f2; touch d/e/f/g/h/x d/e/z d/zz", directory: directory.path)
    let walker = try DirectoryWalker(root: directory.root, maximumOpenDescriptors: descriptors)
    let found = try Shell.run(["find", ".", "-mindepth", "1", "-printf", "%P\\0"], directory: directory.path)
    let expected = Set(found.output.split(separator: 0).map(Array.init))
    let (paths, failures) = walk(walker)
    #expect(failures == [])
    #expect(Set(paths) == expected)
    #expect(paths.count == expected.count)
  }

  @Test("Entries know their name, status and directory")
  func entries() throws {
    try Shell.script("mkdir -p a/b; printf 12345 >a/b/five; ln -s five a/b/link", directory: directory.path)
    let walker = try DirectoryWalker(root: directory.root)
    var seen = 0
    while case .entry(let entry)? = walker.next() {
      let again = try FileSystem.status(at: walker.directoryDescriptor, entry.name)
      #expect(again == entry.status)
      if entry.name == Array("five".utf8) { #expect(entry.status.byteCount == 5) }
      if entry.name == Array("link".utf8) { #expect(entry.status.kind == .symlink) }
      seen += 1
    }
    #expect(seen == 4)
  }

  @Test("Subtrees are left out on request, and a walk can begin below the root")
  func skipAndStart() throws {
    try Shell.script("mkdir -p a/b/c a/d; touch a/b/c/x a/d/y z", directory: directory.path)
    let walker = try DirectoryWalker(root: directory.root)
    var paths: [[UInt8]] = []
    while case .entry(let entry)? = walker.next() {
      paths.append(entry.relativePath)
      if entry.relativePath == Array("a/b".utf8) { walker.skipSubtree() }
    }
    #expect(strings(paths) == ["a", "a/b", "a/d", "a/d/y", "z"])
    let below = walk(try DirectoryWalker(root: directory.root, startPath: Array("./a//b".utf8)))
    #expect(strings(below.paths) == ["a/b/c", "a/b/c/x"])
    try Shell.script("ln -s a l", directory: directory.path)
    #expect(throws: SystemError.self) { try DirectoryWalker(root: directory.root, startPath: [0x6C]) }
  }

  @Test("What vanishes or changes during the walk is a failure of its own")
  func changes() throws {
    try Shell.script("mkdir -p a/b/c/d/e m n/o; touch a/b/c/d/e/x a/b/y a/z n/o/p q", directory: directory.path)
    let walker = try DirectoryWalker(root: directory.root, maximumOpenDescriptors: 2)
    var paths: [String] = []
    var failures: [SystemError] = []
    while let step = walker.next() {
      switch step {
      case .entry(let entry):
        let path = String(decoding: entry.relativePath, as: UTF8.self)
        paths.append(path)
        // While the walk is deep below, an ancestor goes and a link takes its place.
        if path == "a/b/c/d/e/x" {
          try Shell.script("mv a gone; ln -s gone a; rm q; rmdir m; ln -s n m", directory: directory.path)
        }
        if path == "n" { try Shell.script("mv n moved; ln -s moved n", directory: directory.path) }
      case .failure(let error): failures.append(error)
      }
    }
    #expect(paths.prefix(6) == ["a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e", "a/b/c/d/e/x"])
    #expect(failures.contains { $0.path == Array("q".utf8) && $0.isNotFound })
    #expect(failures.contains { $0.path == Array("n".utf8) && $0.isNotDirectory })
    #expect(!paths.contains { $0.hasPrefix("m/") || $0.hasPrefix("n/") })
    #expect(paths.contains("m"))
  }

  @Test(
    "An unreadable directory does not end the walk of a plain user", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func unreadable() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      try Shell.script(
        "mkdir -p a/b c/d e/f; touch a/b/1 c/d/2 e/f/3; chmod 0 c; chmod 444 e; chown -R 65534:65534 .",
        directory: directory.path)
      #expect(Limits.becomePlainUser())
      let (paths, failures) = walk(try DirectoryWalker(root: directory.root))
      #expect(paths.map { String(decoding: $0, as: UTF8.self) } == ["a", "a/b", "a/b/1", "c", "e"])
      #expect(failures.count == 2 && failures.allSatisfy { $0.isPermissionDenied })
      #expect(failures.map(\.path) == [Array("c".utf8), Array("e/f".utf8)])
      // And the same user's trees go whole, whatever their modes.
      for name in ["a", "c", "e"] { try RemoveTree.remove(at: directory.root.rawValue, Array(name.utf8)) }
      #expect(walk(try DirectoryWalker(root: directory.root)).paths == [])
    }
  }

  @Test("Ten thousand levels, three walkers and 36 descriptors", .timeLimit(.minutes(10)))
  func deep() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory(.memory)
      try FileTree.makeDeep(in: directory.root, levels: 10000)
      try FileTree.write([], to: directory.file("d/zz"))
      Limits.leaveDescriptors(36)
      let walkers = try (0..<3).map { _ in try DirectoryWalker(root: directory.root) }
      for walker in walkers {
        var count = 0
        var last: [UInt8] = []
        while case .entry(let entry)? = walker.next() {
          count += 1
          last = entry.relativePath
        }
        #expect(count == 10002)
        #expect(last == Array("d/zz".utf8))
      }
    }
  }

  @Test("One file system only", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func oneFileSystem() throws {
    let inner = directory.file("mounted")
    try Shell.script("mkdir -p before mounted; touch before/x", directory: directory.path)
    guard (try? Shell.script("mount -t tmpfs t \(inner); touch \(inner)/inside")) != nil else { return }
    defer { _ = try? Shell.script("umount \(inner)") }
    let all = walk(try DirectoryWalker(root: directory.root)).paths
    let one = walk(try DirectoryWalker(root: directory.root, oneFileSystem: true)).paths
    #expect(strings(all) == ["before", "before/x", "mounted", "mounted/inside"])
    #expect(strings(one) == ["before", "before/x", "mounted"])
  }

  @Test("A directory with a hundred thousand names")
  func wide() throws {
    let memory = try TemporaryDirectory(.memory)
    try Shell.script("seq -f 'file-with-a-common-start-%06g' 1 100000 | xargs touch", directory: memory.path)
    let (paths, failures) = walk(try DirectoryWalker(root: memory.root))
    #expect(failures == [] && paths.count == 100_000)
    #expect(zip(paths, paths.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
  }
}

@Suite(.inTemporaryDirectory())
struct RemoveTreeTests {
  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  @Test("Removes trees, files and links, and nothing that links lead to", arguments: [false, true])
  func removes(isParallel: Bool) throws {
    let root = directory.root.rawValue
    try Shell.script(
      "mkdir -p keep/x t/a/b/c/d/e/f/g/h/i/j/k t/m; touch keep/f t/a/1 t/m/2; ln -s ../keep t/l; ln -s keep l; chmod 0 t/m",
      directory: directory.path)
    let inner = try FileSystem.open(at: root, Array("t/a".utf8), [.readOnly, .directory])
    try FileTree.makeAwkward(in: inner.rawValue)
    for name in ["t", "l", "none"] { try RemoveTree.remove(at: root, Array(name.utf8), isParallel: isParallel) }
    #expect(try Shell.script("find . | sort", directory: directory.path) == ".\n./keep\n./keep/f\n./keep/x\n")
  }

  @Test(
    "Goes on after a failure and reports it", .enabled(if: ProcessFacts.effectiveUserID == 0),
    arguments: [false, true])
  func failure(isParallel: Bool) throws {
    let busy = directory.file("t/b/mounted")
    try Shell.script("mkdir -p t/a t/b/mounted t/c; touch t/a/1 t/c/2 t/b/3", directory: directory.path)
    guard (try? Shell.script("mount -t tmpfs t \(busy)")) != nil else { return }
    let error = #expect(throws: SystemError.self) {
      try RemoveTree.remove(at: directory.root.rawValue, Array("t".utf8), isParallel: isParallel)
    }
    #expect(error?.errno == EBUSY)
    let left = try Shell.script("umount t/b/mounted; find . | sort", directory: directory.path)
    #expect(left == ".\n./t\n./t/b\n./t/b/mounted\n")
    try RemoveTree.remove(at: directory.root.rawValue, Array("t".utf8))
  }
}
