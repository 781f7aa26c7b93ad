import AppMigrationHost
import ArchiveEngine
import ArchiveIO
import Foundation
import MigrationWire
import TestSupport
import Testing

/// What an export takes and what it does not, without an extension.
@Suite(.inTemporaryDirectory(.memory)) struct ExportArchiveTests {
  private func path(_ name: String) throws -> String { try #require(TemporaryDirectory.current).file(name) }

  private func archive(
    _ file: OutputFile, warnings: Locked<[String]> = Locked([])
  ) throws -> ExportArchive {
    try ExportArchive(
      to: file.descriptor.rawValue,
      manifest: MigrationManifest(
        version: "1", source: SourceApp(storeIdentifier: "", bundleIdentifier: "org.example", platform: "linux"),
        destinationPlatform: "android", sizeEstimate: 0, isCompressible: true), owner: (0, 0),
      cancellation: CancellationToken(),
      onEvent: { event in
        if case .warning(let warning) = event { warnings.withLock { $0.append(warning.description) } }
      })
  }

  private func send(_ directory: String, as name: String, to archive: ExportArchive) throws -> ItemReply {
    let descriptor = unsafe open(directory, O_RDONLY)
    try #require(descriptor >= 0)
    return try archive.append(
      ItemMessage(number: 1, wantsReply: true, path: Array(name.utf8), content: .descriptor),
      SharedDescriptor(Descriptor(adopting: descriptor)))
  }

  @Test func whatNoImportWouldTakeIsNotExported() throws {
    let file = try OutputFile(path: Array(path("a.tar.zst").utf8))
    let warnings = Locked<[String]>([])
    let archive = try archive(file, warnings: warnings)
    try Shell.script(
      """
      mkdir good bad; echo x > good/file; ln -s file good/inside; mkfifo good/pipe; ln -s ../other good/sibling
      echo y > bad/file; ln -s ../../etc bad/escape; ln -s /etc/passwd absolute
      """, directory: path(""))
    #expect(try send(path("good"), as: "good", to: archive) == .accepted)
    guard case .refused(let message) = try send(path("bad"), as: "bad", to: archive) else {
      return #expect(Bool(false))
    }
    #expect(message.contains("bad/escape") && message.contains("leads out"))
    let link = ItemMessage(number: 2, wantsReply: false, path: Array("l".utf8), content: .symlink(Array("/etc".utf8)))
    guard case .refused = try archive.append(link, nil) else { return #expect(Bool(false)) }
    _ = try archive.finish()
    try file.commit(sync: false)
    #expect(warnings.withLock { $0 }.contains { $0.contains("good/pipe") && $0.contains("FIFO") })
    let unpacked = try path("out")
    try ArchiveDirectory.unpack(Array(path("a.tar.zst").utf8), to: Array(unpacked.utf8))
    let found = try Shell.script("find . | sort", directory: unpacked)
    #expect(
      found.split(separator: "\n") == [".", "./good", "./good/file", "./good/inside", "./good/sibling"])
  }

  @Test func descriptorsOfTheWrongKindAreRefused() throws {
    let file = try OutputFile(path: Array(path("b.tar.zst").utf8))
    let archive = try archive(file)
    try Shell.script("echo x > f; mkfifo p", directory: path(""))
    let flags: [(String, Int32)] = try [
      (path("f"), O_WRONLY), (path("f"), 0o10000000), (path("p"), O_RDONLY | O_NONBLOCK), ("/dev/null", O_RDONLY),
      ("/proc/self/environ", O_RDONLY), ("/proc/self", O_RDONLY), ("/sys", O_RDONLY),
    ]
    for (name, flag) in flags {
      let descriptor = unsafe open(name, flag)
      try #require(descriptor >= 0, "\(name)")
      let reply = try archive.append(
        ItemMessage(number: 1, wantsReply: true, path: [0x61], content: .descriptor),
        SharedDescriptor(Descriptor(adopting: descriptor)))
      guard case .refused = reply else { return #expect(Bool(false), "\(name) \(flag)") }
    }
    let reply = try archive.append(
      ItemMessage(number: 1, wantsReply: true, path: [0x61], content: .file([1])), nil)
    #expect(reply == .accepted, "the name is still free")
    #expect(try archive.finish().entryCount == 1)
  }
}
