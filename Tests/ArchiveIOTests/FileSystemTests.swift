import ArchiveIO
import Glibc
import TestSupport
import Testing

@Suite(.inTemporaryDirectory())
struct FileSystemTests {
  let directory: TemporaryDirectory
  var root: Int32 { directory.root.rawValue }

  init() throws { directory = try #require(TemporaryDirectory.current) }

  func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test("Names with NUL are refused before the call", arguments: [[0], [0x61, 0, 0x62]] as [[UInt8]])
  func zeroInName(name: [UInt8]) throws {
    let refused = SystemError("mkdirat", errno: EINVAL, path: name)
    #expect(throws: refused) { try FileSystem.makeDirectory(at: root, name, mode: 0o755) }
    #expect(throws: SystemError.self) { try FileSystem.makeSymlink(to: name, at: root, [0x61]) }
    #expect(throws: SystemError.self) { try FileSystem.status(at: root, name) }
    #expect(throws: SystemError.self) { _ = try FileSystem.open(at: root, name, .readOnly) }
  }

  @Test("Errors carry call, path and a text")
  func errorText() throws {
    let error = #expect(throws: SystemError.self) { _ = try FileSystem.open(at: root, bytes("none"), .readOnly) }
    #expect(error?.isNotFound == true)
    #expect(error?.message == "openat: No such file or directory")
    #expect(error?.path == bytes("none"))
    #expect(SystemError("read", errno: 12345).reason == "unknown error")
  }

  @Test("Symlink targets of every length", arguments: [1, 255, 256, 257, 1023, 1024, 1025, 4095])
  func linkTargets(length: Int) throws {
    let target = (0..<length).map { UInt8($0 % 251 + 1) }
    try FileSystem.makeSymlink(to: target, at: root, bytes("link"))
    #expect(try FileSystem.readLink(at: root, bytes("link")) == target)
    let status = try FileSystem.status(at: root, bytes("link"))
    #expect(status.kind == .symlink && status.byteCount == Int64(length))
  }

  @Test("Every kind of file is told apart")
  func kinds() throws {
    try FileTree.makeAwkward(in: root)
    let expected: [(String, FileKind)] = [
      ("plain", .regular), ("empty", .directory), ("link", .symlink), ("fifo", .fifo),
    ]
    for (name, kind) in expected { #expect(try FileSystem.status(at: root, bytes(name)).kind == kind) }
    let plain = try FileSystem.status(at: root, bytes("plain"))
    #expect(plain.linkCount == 2)
    #expect(plain.isSameFile(as: try FileSystem.status(at: root, bytes("hard"))))
    let old = try FileSystem.status(at: root, bytes("with space"))
    #expect(old.modificationSeconds == -5 && old.modificationNanoseconds == 123_456_789)
    let link = try FileSystem.status(at: root, bytes("link"))
    #expect(link.modificationSeconds == 4_500_000_000 && link.modificationNanoseconds == 1)
    #expect(try FileSystem.status(at: root, bytes("size-1")).mode == 0o4755)
    let holes = try FileSystem.status(at: root, bytes("holes"))
    #expect(holes.byteCount == 3 << 20 && holes.allocatedByteCount < 1 << 20)
    #expect(try FileSystem.statusFollowing(at: root, bytes("link")).isSameFile(as: plain))
    let text = try Shell.script("stat -c '%d %i %h %u %g %a %Y' plain", directory: directory.path)
    let major = UInt64(plain.device >> 32)
    let minor = plain.device & 0xFFFF_FFFF
    let device = (minor & 0xFF) | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12
    #expect(
      text
        == "\(device) \(plain.inode) 2 \(plain.userID) \(plain.groupID) \(String(plain.mode, radix: 8)) "
        + "\(plain.modificationSeconds)\n")
  }

  @Test("Device nodes", .enabled(if: ProcessFacts.effectiveUserID == 0))
  func devices() throws {
    try FileSystem.makeDevice(at: root, bytes("c"), isBlock: false, mode: 0o600, major: 511, minor: 70000)
    try FileSystem.makeDevice(at: root, bytes("b"), isBlock: true, mode: 0o640, major: 7, minor: 255)
    let character = try FileSystem.status(at: root, bytes("c"))
    #expect(character.kind == .characterDevice && character.deviceMajor == 511 && character.deviceMinor == 70000)
    let block = try FileSystem.status(at: root, bytes("b"))
    #expect(block.kind == .blockDevice && block.deviceMajor == 7 && block.deviceMinor == 255)
  }

  @Test("Nothing on names follows a symlink")
  func noFollow() throws {
    try FileTree.write([1], to: directory.file("target"), mode: 0o600)
    try FileSystem.makeSymlink(to: bytes("target"), at: root, bytes("link"))
    let before = try FileSystem.status(at: root, bytes("target"))
    let error = #expect(throws: SystemError.self) { try FileSystem.setMode(at: root, bytes("link"), 0o777) }
    #expect(error?.isNotSupported == true)
    try FileSystem.setTimes(at: root, bytes("link"), modificationSeconds: 7, nanoseconds: 8)
    if ProcessFacts.effectiveUserID == 0 {
      try FileSystem.setOwner(at: root, bytes("link"), userID: 12, groupID: 34)
      #expect(try FileSystem.status(at: root, bytes("link")).userID == 12)
    }
    try FileSystem.makeHardLink(from: root, bytes("link"), to: root, bytes("second"))
    #expect(try FileSystem.status(at: root, bytes("second")).kind == .symlink)
    #expect(try FileSystem.status(at: root, bytes("target")) == before)
    #expect(throws: SystemError.self) { _ = try FileSystem.open(at: root, bytes("link"), [.readOnly, .noFollow]) }
    #expect(throws: SystemError.self) {
      _ = try FileSystem.open(at: root, bytes("link"), [.writeOnly, .create, .exclusive], mode: 0o600)
    }
  }

  @Test("Renames: replacing, not replacing, exchanging")
  func renames() throws {
    try FileTree.write([1], to: directory.file("a"))
    try FileTree.write([2], to: directory.file("b"))
    let refused = #expect(throws: SystemError.self) {
      try FileSystem.renameWithoutReplacing(from: root, bytes("a"), to: root, bytes("b"))
    }
    #expect(refused?.alreadyExists == true)
    try FileSystem.exchange(root, bytes("a"), with: root, bytes("b"))
    #expect(try FileTree.read(directory.file("a")) == [2])
    try FileSystem.rename(from: root, bytes("a"), to: root, bytes("b"))
    #expect(try FileTree.read(directory.file("b")) == [2])
    try FileSystem.renameWithoutReplacing(from: root, bytes("b"), to: root, bytes("c"))
    #expect(throws: SystemError.self) { try FileSystem.status(at: root, bytes("b")) }
  }

  @Test("Holes are found")
  func holes() throws {
    try FileTree.makeSparse(in: root, bytes("holes"), dataAt: [65536], byteCount: 1 << 20)
    let file = try FileSystem.open(at: root, bytes("holes"), .readOnly)
    #expect(try FileSystem.seekData(file.rawValue, from: 0) == .found(65536))
    #expect(try FileSystem.seekHole(file.rawValue, from: 65536) == .found(65536 + 4096))
    #expect(try FileSystem.seekData(file.rawValue, from: 65536 + 4096) == .none)
    #expect(try FileSystem.seekData(file.rawValue, from: 1 << 20) == .none)
  }

  @Test("Attributes of files and symlinks, names and values of every length", arguments: [0, 1, 511, 512, 513, 3000])
  func attributes(length: Int) throws {
    let value = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    try FileTree.write([1], to: directory.file("f"))
    let file = try FileSystem.open(at: root, bytes("f"), .readOnly)
    #expect(try FileSystem.attributeNames(of: file.rawValue) == [])
    try FileSystem.setAttribute(of: file.rawValue, bytes("user.one"), value: value)
    try FileSystem.setAttribute(at: root, bytes("f"), bytes("user.=%\n"), value: [0])
    #expect(Set(try FileSystem.attributeNames(of: file.rawValue)) == [bytes("user.one"), bytes("user.=%\n")])
    #expect(try FileSystem.attribute(of: file.rawValue, bytes("user.one")) == value)
    #expect(try FileSystem.attribute(at: root, bytes("f"), bytes("user.one")) == value)
    #expect(try FileSystem.attribute(of: file.rawValue, bytes("user.none")) == nil)
    try FileSystem.removeAttribute(of: file.rawValue, bytes("user.one"))
    #expect(try FileSystem.attributeNames(at: root, bytes("f")) == [bytes("user.=%\n")])
    try FileSystem.makeSymlink(to: bytes("f"), at: root, bytes("link"))
    #expect(try FileSystem.attributeNames(at: root, bytes("link")) == [])
    if ProcessFacts.effectiveUserID == 0 {
      try FileSystem.setAttribute(at: root, bytes("link"), bytes("trusted.x"), value: [9])
      #expect(try FileSystem.attribute(at: root, bytes("link"), bytes("trusted.x")) == [9])
      #expect(try FileSystem.attributeNames(of: file.rawValue) == [bytes("user.=%\n")])
    }
  }

  @Test("Many attributes, in a list longer than the first buffer")
  func manyAttributes() throws {
    let memory = try TemporaryDirectory(.memory)
    try FileTree.write([1], to: memory.file("f"))
    let file = try FileSystem.open(at: memory.root.rawValue, bytes("f"), .readOnly)
    let names = (0..<100).map { bytes("trusted.attribute-\($0)") }
    guard ProcessFacts.effectiveUserID == 0 else { return }
    for name in names { try FileSystem.setAttribute(of: file.rawValue, name, value: name) }
    #expect(Set(try FileSystem.attributeNames(of: file.rawValue)).isSuperset(of: names))
  }

  @Test("Transfers are complete with short ones and interruptions in between", arguments: 1...6)
  func shortTransfers(nth: Int) throws {
    var random = SplitMix64(seed: UInt64(nth))
    let contents = random.bytes(100_001)
    // Faults are the process's: this runs in one of its own by the serialized fault suite as well.
    let file = try FileSystem.open(at: root, bytes("f"), [.readWrite, .create], mode: 0o600)
    try unsafe contents.withUnsafeBytes { all in
      let cut = 1000 * nth
      try unsafe FileSystem.writev(
        file.rawValue,
        [
          UnsafeRawBufferPointer(rebasing: all[..<cut]), UnsafeRawBufferPointer(rebasing: all[cut..<cut]),
          UnsafeRawBufferPointer(rebasing: all[cut...]),
        ])
    }
    var back = [UInt8](repeating: 0, count: contents.count + 10)
    let count = try unsafe back.withUnsafeMutableBytes { try unsafe FileSystem.pread(file.rawValue, into: $0, at: 0) }
    #expect(Array(back.prefix(count)) == contents)
    #expect(throws: SystemError.self) {
      try unsafe back.withUnsafeMutableBytes { try unsafe FileSystem.pread(file.rawValue, into: $0, at: .max - 5) }
    }
  }

  @Test("A write past the file size limit is an error, not a signal")
  func fileSizeLimit() async throws {
    await #expect(processExitsWith: .success) {
      // The limit is looked at once a process.
      var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
      signal(SIGXFSZ, SIG_DFL)
      unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let directory = try TemporaryDirectory()
      let error = #expect(throws: SystemError.self) {
        try FileTree.write([UInt8](repeating: 1, count: 5000), to: directory.file("f"))
      }
      #expect(error?.isOutOfSpace == true)
      let file = try FileSystem.open(at: directory.root.rawValue, Array("f".utf8), .writeOnly)
      let second = #expect(throws: SystemError.self) { try FileSystem.truncate(file.rawValue, byteCount: 5000) }
      #expect(second?.errno == EFBIG)
    }
  }

  @Test("Buffers are zero-filled, aligned, and fail without a trap")
  func buffers() throws {
    let buffer = try Buffer(byteCount: 1 << 20)
    #expect(unsafe UInt(bitPattern: buffer.base) % 4096 == 0)
    #expect(unsafe buffer.bytes.allSatisfy { $0 == 0 })
    #expect(throws: SystemError("mmap", errno: ENOMEM)) { try Buffer(byteCount: 1 << 62) }
    #expect(throws: SystemError("mmap", errno: EINVAL)) { try Buffer(byteCount: 0) }
  }
}
