import ArchiveIO
import Glibc
import TestSupport
import Testing

@Suite(.inTemporaryDirectory())
struct OutputFileTests {
  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  var names: String {
    get throws { try Shell.script("find . -mindepth 1 | sort | tr '\\n' ' '", directory: directory.path) }
  }

  func output(_ name: String) throws -> OutputFile { try OutputFile(path: Array(directory.file(name).utf8)) }

  func fill(_ file: OutputFile, _ bytes: [UInt8]) throws { try DescriptorWriter(file.descriptor).write(bytes) }

  @Test("Appears whole, with the umask's mode", arguments: [false, true])
  func commit(sync: Bool) throws {
    let file = try output("f")
    #expect(!file.isDirect)
    try fill(file, [1, 2, 3])
    #expect(try names == "./.f.starc-partial.tmp ")
    #expect(try FileSystem.status(of: file.descriptor.rawValue).mode == 0o600)
    try file.commit(sync: sync)
    file.abandon()
    #expect(try names == "./f ")
    #expect(try FileTree.read(directory.file("f")) == [1, 2, 3])
    let mode = try FileSystem.status(at: directory.root.rawValue, Array("f".utf8)).mode
    #expect(mode == 0o666 & ~ProcessFacts.fileModeMask)
    #expect(throws: SystemError.self) { try file.commit(sync: false) }
  }

  @Test("Replaces a file and keeps its mode; given up, it leaves all as it was")
  func replace() throws {
    try FileTree.write([9], to: directory.file("f"), mode: 0o640)
    try Shell.script("chmod 640 f", directory: directory.path)
    do {
      let file = try output("f")
      try fill(file, [1])
    }
    #expect(try names == "./f ")
    #expect(try FileTree.read(directory.file("f")) == [9])
    let file = try output("f")
    try fill(file, [1])
    #expect(try FileTree.read(directory.file("f")) == [9])
    try file.commit(sync: true)
    #expect(try FileTree.read(directory.file("f")) == [1])
    #expect(try FileSystem.status(at: directory.root.rawValue, Array("f".utf8)).mode == 0o640)
  }

  @Test("What a killed run left is removed; a live one is left alone")
  func leftover() throws {
    try FileTree.write([7], to: directory.file(".f.starc-partial.tmp"), mode: 0o600)
    let file = try output("f")
    let error = #expect(throws: SystemError.self) { _ = try output("f") }
    #expect(error?.errno == EWOULDBLOCK && error?.call.description == "flock")
    try fill(file, [1])
    try file.commit(sync: false)
    #expect(try FileTree.read(directory.file("f")) == [1])
    #expect(try names == "./f ")
  }

  @Test("Something strange under the temporary name is neither followed nor removed")
  func strange() throws {
    try Shell.script("echo precious >victim; ln -s victim .f.starc-partial.tmp", directory: directory.path)
    let file = try output("f")
    try fill(file, [1])
    try file.commit(sync: false)
    #expect(try names == "./.f.starc-partial.tmp ./f ./victim ")
    #expect(try FileTree.read(directory.file("victim")) == Array("precious\n".utf8))
  }

  @Test("Another user's file under the temporary name stays", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func foreign() throws {
    try Shell.script("echo theirs >.f.starc-partial.tmp; chown 1:1 .f.starc-partial.tmp", directory: directory.path)
    let file = try output("f")
    try fill(file, [1])
    try file.commit(sync: false)
    #expect(try FileTree.read(directory.file("f")) == [1])
    #expect(try FileTree.read(directory.file(".f.starc-partial.tmp")) == Array("theirs\n".utf8))
  }

  @Test("A lock tells whether the name still stands for what is locked")
  func lockedName() throws {
    try Shell.script("touch f g", directory: directory.path)
    let (name, root) = (Array("f".utf8), directory.root.rawValue)
    let file = try FileSystem.open(at: root, name, [.readOnly])
    #expect(try NameLock.lock(file.rawValue, as: name, in: root))
    try Shell.script("mv g f", directory: directory.path)
    #expect(try !NameLock.lock(file.rawValue, as: name, in: root))
    try Shell.script("rm f", directory: directory.path)
    #expect(try !NameLock.lock(file.rawValue, as: name, in: root))
  }

  @Test("Through symlinks the target is replaced")
  func symlinks() throws {
    try Shell.script(
      "mkdir d; echo old >d/f; ln -s d/f l; ln -s \"$PWD/l\" ll; ln -s loop loop", directory: directory.path)
    let file = try output("ll")
    try fill(file, [1])
    try file.commit(sync: false)
    #expect(try FileTree.read(directory.file("d/f")) == [1])
    #expect(try names == "./d ./d/f ./l ./ll ./loop ")
    let error = #expect(throws: SystemError.self) { _ = try output("loop") }
    #expect(error?.errno == ELOOP)
  }

  @Test("A dangling symlink stands for the file that it names")
  func dangling() throws {
    try Shell.script("ln -s new l", directory: directory.path)
    let file = try output("l")
    try fill(file, [1])
    try file.commit(sync: false)
    #expect(try names == "./l ./new ")
    #expect(try FileTree.read(directory.file("l")) == [1])
  }

  @Test("Devices and FIFOs are written, not replaced")
  func special() throws {
    let null = try OutputFile(path: Array("/dev/null".utf8))
    #expect(null.isDirect)
    try fill(null, [1, 2, 3])
    try null.commit(sync: true)
    #expect(try Shell.script("stat -c %F /dev/null") == "character special file\n")
    try Shell.script("mkfifo p", directory: directory.path)
    let reader = try FileSystem.open(at: directory.root.rawValue, Array("p".utf8), [.readOnly, .nonBlocking])
    let fifo = try output("p")
    try fill(fifo, [1, 2, 3])
    try fifo.commit(sync: true)
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(try unsafe bytes.withUnsafeMutableBytes { try unsafe FileSystem.read(reader.rawValue, into: $0) } == 3)
    #expect(try names == "./p ")
  }

  @Test("Impossible names", arguments: ["", ".", "..", "/", "d", "d/", "none/f", "f/x", "a\0b"])
  func impossible(name: String) throws {
    try Shell.script("mkdir d; touch f", directory: directory.path)
    let path = name.isEmpty || name.hasPrefix("/") || name.hasPrefix(".") ? name : directory.file(name)
    #expect(throws: SystemError.self) { _ = try OutputFile(path: Array(path.utf8)) }
    #expect(try names == "./d ./f ")
  }

  @Test("Names of every length up to the limit", arguments: [236, 237, 238, 254, 255])
  func longNames(length: Int) throws {
    let name = String(repeating: "n", count: length)
    let file = try output(name)
    try file.commit(sync: false)
    #expect(try names == "./\(name) ")
    let staging = try StagingDirectory(path: Array(directory.file(String(repeating: "s", count: length)).utf8))
    try staging.commit(sync: false)
  }
}

@Suite(.inTemporaryDirectory())
struct StagingDirectoryTests {
  let directory: TemporaryDirectory

  init() throws { directory = try #require(TemporaryDirectory.current) }

  func staging(_ name: String = "d") throws -> StagingDirectory {
    try StagingDirectory(path: Array(directory.file(name).utf8))
  }

  var names: String {
    get throws { try Shell.script("find . -mindepth 1 | sort | tr '\\n' ' '", directory: directory.path) }
  }

  @Test("Appears whole", arguments: [false, true])
  func commit(sync: Bool) throws {
    let stage = try staging("d/")
    try FileTree.makeAwkward(in: stage.root.rawValue)
    #expect(try FileSystem.status(of: stage.root.rawValue).mode == 0o700)
    #expect(try FileSystem.status(at: directory.root.rawValue, stage.temporaryName).kind == .directory)
    try stage.commit(sync: sync)
    try stage.abandon()
    #expect(try FileTree.read(directory.file("d/size-512")).count == 512)
    #expect(throws: SystemError.self) { try FileSystem.status(at: directory.root.rawValue, stage.temporaryName) }
  }

  @Test("Given up, nothing is left")
  func abandon() throws {
    do {
      let stage = try staging()
      try FileTree.makeAwkward(in: stage.root.rawValue)
      try FileTree.makeDeep(in: stage.root, levels: 300)
    }
    #expect(try names == "")
  }

  @Test("Never replaces anything", arguments: ["mkdir d", "touch d", "ln -s none d", "mkfifo d"])
  func taken(command: String) throws {
    let stage = try staging()
    try Shell.script(command, directory: directory.path)
    let error = #expect(throws: SystemError.self) { try stage.commit(sync: false) }
    #expect(error?.alreadyExists == true)
    let before = #expect(throws: SystemError.self) { _ = try staging() }
    #expect(before?.alreadyExists == true)
    try stage.abandon()
    #expect(try names == "./d ")
  }

  @Test("What a killed run left is removed; a live one is left alone")
  func leftover() throws {
    try Shell.script(
      "mkdir -p .d.starc-partial/a/b; chmod 0 .d.starc-partial/a .d.starc-partial", directory: directory.path)
    let stage = try staging()
    let error = #expect(throws: SystemError.self) { _ = try staging() }
    #expect(error?.errno == EWOULDBLOCK && error?.call.description == "flock")
    try stage.commit(sync: false)
    #expect(try names == "./d ")
  }

  @Test(
    "A link or foreign file in its place is an error and stays",
    arguments: ["ln -s outside .d.starc-partial", "touch .d.starc-partial", "mkfifo .d.starc-partial"])
  func strange(command: String) throws {
    try Shell.script("mkdir outside; touch outside/x; " + command, directory: directory.path)
    let error = #expect(throws: SystemError.self) { _ = try staging() }
    #expect(error?.isNotDirectory == true)
    #expect(try names == "./.d.starc-partial ./outside ./outside/x ")
  }

  @Test("Another user's directory in its place is an error", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func foreign() throws {
    try Shell.script("mkdir .d.starc-partial; chown 1:1 .d.starc-partial", directory: directory.path)
    let error = #expect(throws: SystemError.self) { _ = try staging() }
    #expect(error?.isPermissionDenied == true)
  }
}
