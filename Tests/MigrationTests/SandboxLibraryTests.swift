import ArchiveIO
import Foundation
import TestSupport
import Testing

@testable import AppMigrationHost

/// Which libraries of an executable are granted.
@Suite(.inTemporaryDirectory())
struct SandboxLibraryTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// A small ELF file, a shared object unless `kind` says otherwise, with a dynamic section.
  private func forge(needed: [String], runpath: String? = nil, rpath: String? = nil, kind: UInt64 = 3) -> [UInt8] {
    var strings: [UInt8] = [0]
    var entries: [(UInt64, UInt64)] = []
    func add(_ tag: UInt64, _ text: String) {
      entries.append((tag, UInt64(strings.count)))
      strings += Array(text.utf8) + [0]
    }
    for name in needed { add(1, name) }
    if let runpath { add(29, runpath) }
    if let rpath { add(15, rpath) }
    func little(_ value: UInt64, _ byteCount: Int) -> [UInt8] {
      (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
    let dynamicOffset = UInt64(64 + 2 * 56)
    let dynamicByteCount = UInt64(16 * (entries.count + 2))
    let stringOffset = dynamicOffset + dynamicByteCount
    let address: UInt64 = 0x10000
    var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    file += little(kind, 2) + little(62, 2) + little(1, 4) + little(0, 8) + little(64, 8) + little(0, 8) + little(0, 4)
    file += little(64, 2) + little(56, 2) + little(2, 2) + little(0, 6)
    func segment(_ type: UInt64, _ offset: UInt64, _ count: UInt64) -> [UInt8] {
      little(type, 4) + little(4, 4) + little(offset, 8) + little(address + offset, 8) + little(0, 8)
        + little(count, 8) + little(count, 8) + little(8, 8)
    }
    file += segment(1, 0, stringOffset + UInt64(strings.count)) + segment(2, dynamicOffset, dynamicByteCount)
    for (tag, value) in entries + [(5, address + stringOffset), (0, 0)] { file += little(tag, 8) + little(value, 8) }
    return file + strings
  }

  private func write(_ bytes: [UInt8], _ name: String) throws {
    try Shell.script(
      "mkdir -p '\(directory.file(name).split(separator: "/").dropLast().joined(separator: "/"))'", directory: "/")
    try FileTree.write(bytes, to: directory.file(name))
  }

  /// The granted libraries, as paths below the test's directory.
  private func granted(_ name: String) throws -> [String] {
    let opened = try FileSystem.open(
      at: FileSystem.currentDirectory, Array(directory.file(name).utf8), .path)
    return try SharedLibraries.needed(by: SharedDescriptor(opened)).map {
      let path = String(decoding: try RealPath.of($0.rawValue), as: UTF8.self)
      return path.hasPrefix(directory.path + "/") ? String(path.dropFirst(directory.path.count + 1)) : path
    }.sorted()
  }

  @Test("Libraries are found beside the program, in its directories, and through other libraries")
  func found() throws {
    try write(forge(needed: ["a.so", "b.so"], runpath: "$ORIGIN:\(directory.path)/far:${ORIGIN}/lib"), "app/program")
    try write(forge(needed: ["c.so"], rpath: "$ORIGIN/../deep"), "app/a.so")
    try write(forge(needed: ["a.so"]), "far/b.so")
    try write(forge(needed: ["d.so"]), "deep/c.so")
    // DT_RPATH holds for what the library's libraries need, DT_RUNPATH does not.
    try write(forge(needed: []), "deep/d.so")
    try write(forge(needed: []), "app/lib/unused.so")
    #expect(try granted("app/program") == ["app/a.so", "deep/c.so", "deep/d.so", "far/b.so"])
  }

  @Test("A hostile program cannot name a secret as its library")
  func hostile() throws {
    try write(Array("secret".utf8), "home/secret")
    try write(Array("\u{7F}ELF".utf8) + [UInt8](repeating: 7, count: 200), "home/nearly")
    try write([], "home/empty")
    try write(forge(needed: [], kind: 2), "home/executable")
    try write(forge(needed: [], kind: 4), "home/core")
    try Shell.script(
      "mkfifo home/pipe; ln -s secret home/link; mkdir home/directory; ln -s /dev/zero home/zero",
      directory: directory.path)
    let names = [
      "executable", "core", "secret", "nearly", "empty", "pipe", "link", "directory", "zero", "../home/secret", "", ".",
      "..",
    ]
    for path in ["$ORIGIN/../home", directory.file("home"), "home", "$LIB/home"] {
      try write(forge(needed: names + [directory.file("home/secret")], runpath: path), "app/program")
      #expect(try granted("app/program").isEmpty, "\(path)")
    }
  }

  @Test("Libraries that need each other end the search")
  func cycle() throws {
    try write(forge(needed: ["a.so"], runpath: "$ORIGIN"), "program")
    try write(forge(needed: ["b.so"], runpath: "$ORIGIN"), "a.so")
    try write(forge(needed: ["a.so", "b.so"], runpath: "$ORIGIN"), "b.so")
    #expect(try granted("program") == ["a.so", "b.so"])
  }

  @Test("A damaged file is never more than no library, at every byte and every length")
  func damaged() throws {
    var generator = SplitMix64(seed: 11)
    let good = forge(needed: ["a.so"], runpath: "$ORIGIN")
    try write(forge(needed: []), "a.so")
    try write(good, "program")
    #expect(try granted("program") == ["a.so"])
    for index in good.indices {
      var bad = good
      bad[index] ^= UInt8.random(in: 1...255, using: &generator)
      try FileTree.write(bad, to: directory.file("program"))
      #expect(try granted("program").allSatisfy { $0 == "a.so" }, "byte \(index), seed 11")
    }
    // Nothing of the file may be missing but the end of the last string's NUL.
    for count in 0..<good.count - 8 {
      try FileTree.write(Array(good.prefix(count)), to: directory.file("program"))
      #expect(try granted("program").isEmpty, "length \(count)")
    }
  }

  @Test("The Swift libraries of a real program are found wherever they lie")
  func real() throws {
    let opened = try FileSystem.open(
      at: FileSystem.currentDirectory, Array(Shell.builtProduct("FoundationExtension").utf8), .path)
    let names = try SharedLibraries.needed(by: SharedDescriptor(opened)).map {
      String(decoding: try RealPath.of($0.rawValue), as: UTF8.self)
    }
    #expect(names.contains { $0.hasSuffix("/libFoundation.so") } && names.contains { $0.hasSuffix("/libswiftCore.so") })
  }
}
